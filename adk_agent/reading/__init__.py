"""How plain sentences are read, one noun a module; `adk_agent.reader` puts them together."""
