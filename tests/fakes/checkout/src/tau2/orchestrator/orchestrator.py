"""The loop."""

from tau2.data_model.message import AssistantMessage
from tau2.data_model.simulation import SimulationRun

STOP = "###STOP###"


class Orchestrator:
    def __init__(self, *, agent, user, environment, task, max_steps, **others):
        self.agent, self.user, self.environment, self.task = agent, user, environment, task
        self.max_steps = max_steps
        self.step_count = 0
        self.trajectory = [AssistantMessage(content="Hi! How can I help you today?")]

    def run(self):
        self.environment.set_state(message_history=[])
        agent_state = self.agent.get_init_state(list(self.trajectory))
        user_state = self.user.get_init_state([])
        reason = "max_steps"
        to_user = True
        while self.step_count < self.max_steps:
            self.step_count += 1
            speaker, state = (self.user, user_state) if to_user else (self.agent, agent_state)
            said, state = speaker.generate_next_message(self.trajectory[-1], state)
            said.validate()
            user_state, agent_state = (state, agent_state) if to_user else (user_state, state)
            self.trajectory.append(said)
            if to_user and STOP in (said.content or ""):
                reason = "user_stop"
                break
            for call in said.tool_calls or ():
                self.trajectory.append(self.environment.get_response(call))
            to_user = to_user if said.tool_calls else not to_user
        return SimulationRun(
            id="1", task_id=self.task.id, termination_reason=reason, messages=self.trajectory
        )
