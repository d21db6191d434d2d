"""How plain sentences are read, one noun a module; `adk_agent.requests.reader` puts them together."""
