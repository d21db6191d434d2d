"""An agent that does the first task of mock."""

import json

CREATE = {
    "name": "create_task",
    "arguments": {"user_id": "user_1", "title": "Important Meeting"},
}
DONE = {"name": "respond", "arguments": {"content": "Done. Is there anything else?"}}


def creates_the_task(text, context_id):
    return json.dumps(DONE if text.startswith("{") else CREATE)
