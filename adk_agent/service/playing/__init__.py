"""Who plays evaluations for the service: in its own process, or in one apart."""
