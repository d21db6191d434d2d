"""Messages."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field


class ToolCall(BaseModel):
    id: str = ""
    name: str
    arguments: dict
    requestor: str = "assistant"


class Spoken(BaseModel):
    content: str | None = None
    tool_calls: list[ToolCall] | None = None
    cost: float | None = None

    def validate(self):
        if not self.tool_calls and not (self.content or "").strip():
            raise ValueError("it is empty")


class AssistantMessage(Spoken):
    role: Literal["assistant"] = "assistant"


class UserMessage(Spoken):
    role: Literal["user"] = "user"


class ToolMessage(BaseModel):
    role: Literal["tool"] = "tool"
    id: str
    content: str | None = None
    requestor: str = "assistant"
    error: bool = False


Message = Annotated[AssistantMessage | UserMessage | ToolMessage, Field(discriminator="role")]
