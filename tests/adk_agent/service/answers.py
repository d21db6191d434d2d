"""Reading the errors of JSON-RPC, and a body that is nested too deep."""

DEEP = "[" * 100_000


def code_of(answer):
    return answer["error"]["code"]
