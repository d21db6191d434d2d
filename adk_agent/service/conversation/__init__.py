"""Messages about evaluations, other than requests for new ones."""
