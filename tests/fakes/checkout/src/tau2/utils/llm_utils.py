"""Language models."""


def generate(**given):
    raise RuntimeError("the engine has no keys")


def to_litellm_messages(messages):
    return [{"role": each.role, "content": each.content} for each in messages]
