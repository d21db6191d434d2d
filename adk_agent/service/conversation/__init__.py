"""What is said about evaluations, beside the requests for new ones."""
