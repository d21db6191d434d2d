"""The user that a model plays."""

from tau2.data_model.message import UserMessage
from tau2.user.user_simulator_base import HalfDuplexUser
from tau2.utils.llm_utils import generate


class UserSimulator(HalfDuplexUser):
    def __init__(self, llm):
        self.llm, self.tools = llm, None

    def get_init_state(self, history):
        return list(history)

    def generate_next_message(self, message, state):
        state.append(message)
        answer = generate(model=self.llm, messages=state, tools=None, call_name="user")
        said = UserMessage(content=answer.content, tool_calls=answer.tool_calls)
        return said, [*state, said]


class DummyUser(UserSimulator):
    def __init__(self):
        super().__init__("dummy")
