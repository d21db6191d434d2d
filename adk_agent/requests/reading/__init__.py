"""Reads plain sentences, one topic per module; `adk_agent.requests.reader` combines them."""
