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
