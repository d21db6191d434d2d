"""Which tools there are, and which of them change something."""

from tau_bridge.tau2.tool_names import TOOL_NAMES


def test_the_whitelist_counts_the_tools_that_change_state():
    changing = {
        name: (sum(names.agent.values()), sum(names.user.values()))
        for name, names in TOOL_NAMES.items()
    }
    assert changing == {
        "airline": (6, 0),
        "banking_knowledge": (36, 8),
        "mock": (2, 1),
        "retail": (7, 0),
        "telecom": (6, 15),
    }


def test_the_bank_has_tools_that_nobody_is_shown():
    bank = TOOL_NAMES["banking_knowledge"]
    assert len(bank.discoverable & bank.agent.keys()) == 44
    assert sum(bank.agent[name] for name in bank.discoverable & bank.agent.keys()) == 31
    assert len(bank.discoverable & bank.user.keys()) == 4


def test_a_call_of_a_hidden_tool_changes_what_that_tool_changes():
    bank = TOOL_NAMES["banking_knowledge"]

    def changes(name, **arguments):
        return bank.changes_data(name, arguments)

    calling, named = "call_discoverable_agent_tool", "agent_tool_name"
    assert changes(calling, **{named: "freeze_debit_card_3892"})
    assert not changes(calling, **{named: "get_payment_history_6183"})
    assert not changes(calling, **{named: None})
    assert not changes("unlock_discoverable_agent_tool", **{named: "freeze_debit_card_3892"})
    assert changes("log_verification")
    assert bank.changes_state(calling)  # a replay repeats it, since it may be logged
