"""Everything that knows the A2A protocol from the client's side."""
