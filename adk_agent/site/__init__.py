"""All runs as a local web site: found, followed over time, compared, and read while they are played.

Everything is read from disk at each request, so runs of other processes are seen as well; nothing
is written. `access` decides who may look, `app` has the pages. What a run came to is the page of
`adk_agent.present.page`, unchanged.
"""
