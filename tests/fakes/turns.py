"""A conversation from a greeting to a goodbye, for every way to talk to the agents of ADK."""

TURNS = (
    ("Hello! What can you do?", "I evaluate A2A agents"),
    ("List the airline tasks about baggage", "tasks about 'baggage' in airline"),
    (
        "Evaluate the bundled echo and oracle agents on two mock tasks with the changes we made "
        "yesterday",
        "Shall I play it?",
    ),
    ("yes", "Recommendations"),
    ("Show me the results", "4 of 4 trials played"),
    ("Which failed?", "did not pass"),
    ("Why did create_task_1 fail?", "From the conversation"),
    ("Run it again with two trials", "pass^2"),
    ("Compare the last two", "against run"),
    ("Thanks a lot", "You are welcome"),
)
"""What is said, and a part of the answer that no earlier answer holds."""
