"""Programs of others, built from ADK's own classes around a RemoteA2aAgent, and what they see."""

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from pydantic import Field

USER = "somebody"
PROGRAM = "program"


class ScriptedLlm(BaseLlm):
    """Answers with the next part of its script, at its end with "done"; remembers what it saw."""

    model: str = "scripted"
    script: list[types.Part] = Field(default_factory=list)
    seen: list[list[types.Content]] = Field(default_factory=list)

    async def generate_content_async(self, llm_request, stream=False):
        self.seen.append(list(llm_request.contents))
        part = self.script.pop(0) if self.script else types.Part(text="done")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def calls(name, **arguments):
    """A part of a script that calls a tool."""
    return types.Part(function_call=types.FunctionCall(name=name, args=arguments))


async def events_of(agent, *messages):
    """Send messages to a program, one after another; the events that its session keeps.

    A message is a text, or makes its part from the events so far.
    """
    runner = InMemoryRunner(agent=agent, app_name=PROGRAM)
    session = await runner.session_service.create_session(app_name=PROGRAM, user_id=USER)
    for message in messages:
        part = types.Part(text=message) if isinstance(message, str) else message(session.events)
        content = types.Content(role="user", parts=[part])
        async for _ in runner.run_async(user_id=USER, session_id=session.id, new_message=content):
            """Until the turn is over."""
        session = await runner.session_service.get_session(
            app_name=PROGRAM, user_id=USER, session_id=session.id
        )
    await runner.close()
    return session.events


def text_of(contents):
    """All texts in these contents, a text part or a text file each."""
    parts = [part for content in contents for part in content.parts or []]
    return "\n".join(
        part.text or (part.inline_data.data.decode() if part.inline_data else "") for part in parts
    )


def said_by(events, author):
    """The texts that an agent said for good: no thoughts, such as progress."""
    said = []
    for event in events:
        if event.author == author and event.content is not None and not event.partial:
            kept = [part for part in event.content.parts or [] if not part.thought]
            said.append(text_of([types.Content(parts=kept)]))
    return [text for text in said if text]


def results_of_tools(contents):
    """What tools returned, in these contents."""
    parts = [part for content in contents for part in content.parts or []]
    return [part.function_response.response["result"] for part in parts if part.function_response]
