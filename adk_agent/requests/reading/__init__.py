"""Reads plain sentences, one noun a module; `adk_agent.requests.reader` puts them together."""
