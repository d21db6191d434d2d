"""Conversion between text and ADK's contents."""

from __future__ import annotations

import re

from google.genai import types


def model_says(text: str) -> types.Content:
    """Make a model's content with one text."""
    return types.Content(role="model", parts=[types.Part(text=text)])


def text_of(content: types.Content | None) -> str:
    """Return the texts of a content, joined by line breaks; empty if there are none."""
    parts = content.parts if content is not None else None
    return "\n".join(part.text for part in parts or () if part.text)


def nothing_said() -> types.Content:
    """Make a model's content without text: an event that only changes the state."""
    return types.Content(role="model", parts=[])


def as_sentence(text: str) -> str:
    """Begin a message with a capital letter, unless it begins with a name or an address."""
    begins_with_a_word = re.match(r"[a-z]+[ ,]", text)
    return text[:1].upper() + text[1:] if begins_with_a_word else text
