"""Which tools ask for approvals and humans, and which only sound like it."""

import pytest

from purple_agent.toolbox.control import control_of


@pytest.mark.parametrize(
    ("name", "control"),
    [
        ("request_approval", "request_approval"),
        ("requestApproval", "request_approval"),
        ("Request-Manager-Approval", "request_approval"),
        ("ask_for_approval", "request_approval"),
        ("request_aproval", "request_approval"),
        ("create_approval_request", "request_approval"),
        ("get_approval", "get_approval"),
        ("check_approval_status", "get_approval"),
        ("escalate", "escalate"),
        ("escalate_to_human", "escalate"),
        ("escalate_case", "escalate"),
        ("escalateToSupervisor", "escalate"),
        ("transfer_to_human_agents", "escalate"),
        ("hand_over_to_a_person", "escalate"),
        ("create_escalation", "escalate"),
        ("submit_approval_request", "request_approval"),
        ("handoff_to_human", "escalate"),
        ("create_escalation_case", "escalate"),
        # and those that do something themselves
        ("approve_expense", None),
        ("grant_approval", None),
        ("approval", None),
        ("override_approval", None),
        ("request_approval_override", None),
        ("request_and_grant_approval", None),
        ("get_expense", None),
        ("escalate_privileges", None),
        ("escalate_refund", None),
        ("transfer_funds", None),
        ("transfer_to_account", None),
        ("transfer_case_team", None),
        ("create_case", None),
        ("create_person", None),
        ("create_manager", None),
        ("create_operator", None),
        ("transfer_person", None),
        ("transfer_manager", None),
        ("submit_approval", None),
        ("create_approval", None),
        ("start_approval", None),
        ("hand_over_case", None),
        ("humans_transfer", None),
        ("", None),
        ("___", None),
    ],
)
def test_control_tools_are_told_by_the_words_of_their_names(name, control):
    assert control_of(name) == control
