"""The registry: one domain, whose tasks are in the folder of data."""

import json
import os
from pathlib import Path

from tau2.data_model.tasks import Task


class Registry:
    def __init__(self):
        self.factories = {}

    def register_agent_factory(self, factory, name):
        self.factories[name] = factory

    def get_domains(self):
        return ["mock"]

    def get_tasks_loader(self, domain):
        folder = Path(os.environ["TAU2_DATA_DIR"]) / "tau2" / "domains" / domain
        records = json.loads((folder / "tasks.json").read_text())
        return lambda split: [Task(**each) for each in records]


registry = Registry()
