"""Text in and out of ADK's contents."""

from __future__ import annotations

from google.genai import types


def model_says(text: str) -> types.Content:
    """Make a content of the model's that holds one text."""
    return types.Content(role="model", parts=[types.Part(text=text)])


def text_of(content: types.Content | None) -> str:
    """Return the texts of a content, one below the other; empty if there are no texts."""
    parts = content.parts if content is not None else None
    return "\n".join(part.text for part in parts or () if part.text)
