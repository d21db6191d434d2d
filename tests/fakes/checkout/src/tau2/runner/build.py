"""Builders."""

from tau2.environment.environment import Environment
from tau2.user.user_simulator import UserSimulator


def build_environment(domain, *, solo_mode=False, env_kwargs=None):
    return Environment()


def build_user(name, environment, task, *, llm=None):
    return UserSimulator(llm)


def _build_env_kwargs(config, task):
    return {}
