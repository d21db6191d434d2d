"""The mock domain: a to-do list with an inbox, small enough to be ours.

Names, texts and behaviour are those of the official domain, whose tasks run on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tau_bridge.tau2 import official_tools as official
from tau_bridge.tau2.blueprint import Blueprint, Side
from tau_bridge.tau2.schemas import ToolSource
from tau_bridge.tau2.tables import database_factory
from tau_bridge.tau2.tool_names import TOOL_NAMES

TaskStatus = Literal["pending", "completed"]

DEFAULT_USER_DATABASE: Mapping[str, Any] = {
    "notifications": {
        "notif_1": {
            "notification_id": "notif_1",
            "message": "Task 'Test task' has been assigned to you.",
            "status": "unread",
            "task_id": "task_1",
        }
    }
}
"""The official `user_db.json`, for data that come without one."""


class Todo(BaseModel):
    """One entry of the to-do list."""

    task_id: str
    title: str
    description: str | None = None
    status: TaskStatus


class Owner(BaseModel):
    """Somebody with to-dos."""

    user_id: str
    name: str
    tasks: list[str]


class MockDB(BaseModel):
    """The agent's side."""

    model_config = ConfigDict(extra="forbid")

    tasks: dict[str, Todo]
    users: dict[str, Owner]


class Notification(BaseModel):
    """One message in the inbox."""

    model_config = ConfigDict(extra="forbid")

    notification_id: str
    message: str
    status: Literal["unread", "read"] = "unread"
    task_id: str | None = None


class MockUserDB(BaseModel):
    """The user's side."""

    model_config = ConfigDict(extra="forbid")

    notifications: dict[str, Notification] = Field(default_factory=dict)


def _require(key: str, table: Mapping[str, Any], kind: str) -> None:
    if key not in table:
        raise ValueError(f"{kind} {key} not found")


class MockTools:
    """The agent's tools, and the assertions on its side."""

    def __init__(self, db: Any) -> None:
        self.db = db

    def create_task(self, user_id: str, title: str, description: str = None) -> Todo:  # type: ignore[assignment]  # noqa: RUF013 - the official schema has a plain string
        """Create a new task for a user.

        Args:
            user_id: The ID of the user creating the task
            title: The title of the task
            description: Optional description of the task
        """
        _require(user_id, self.db.users, "User")
        task_id = f"task_{len(self.db.tasks) + 1}"
        todo = Todo(task_id=task_id, title=title, description=description, status="pending")
        self.db.tasks[task_id] = todo
        self.db.users[user_id].tasks.append(task_id)
        return todo

    def get_users(self) -> list[Owner]:
        """Get all users in the database."""
        return list(self.db.users.values())

    def update_task_status(self, task_id: str, status: TaskStatus) -> Todo:
        """Update the status of a task.

        Args:
            task_id: The ID of the task to update
            status: The new status of the task
        """
        _require(task_id, self.db.tasks, "Task")
        todo: Todo = self.db.tasks[task_id]
        todo.status = status
        return todo

    def transfer_to_human_agents(self, summary: str) -> str:
        """
        Transfer the user to a human agent, with a summary of the user's issue.
        Only transfer if
         -  the user explicitly asks for a human agent
         -  given the policy and the available tools, you cannot solve the user's issue.

        Args:
            summary: A summary of the user's issue.
        """  # noqa: D205, D212 - agents are shown this text
        return official.transfer_to_human_agents(self, summary)

    def assert_number_of_tasks(self, user_id: str, expected_number: int) -> bool:
        """Tell whether the user has this many to-dos."""
        _require(user_id, self.db.users, "User")
        return len(self.db.users[user_id].tasks) == expected_number

    def assert_task_status(self, task_id: str, expected_status: str) -> bool:
        """Tell whether the to-do has this status."""
        _require(task_id, self.db.tasks, "Task")
        return bool(self.db.tasks[task_id].status == expected_status)


class MockUserTools:
    """The user's tools, and what task data do to the inbox."""

    def __init__(self, db: Any) -> None:
        self.db = db

    def check_notifications(self) -> list[Notification]:
        """Check all notifications in the user's inbox."""
        return list(self.db.notifications.values())

    def dismiss_notification(self, notification_id: str) -> str:
        """Dismiss (mark as read) a notification.

        Args:
            notification_id: The ID of the notification to dismiss.
        """
        _require(notification_id, self.db.notifications, "Notification")
        self.db.notifications[notification_id].status = "read"
        return f"Notification {notification_id} dismissed"

    def add_notification(
        self, notification_id: str, message: str, task_id: str | None = None
    ) -> Notification:
        """Put a message into the inbox."""
        notification = Notification(
            notification_id=notification_id, message=message, task_id=task_id
        )
        self.db.notifications[notification_id] = notification
        return notification

    def assert_notification_status(self, notification_id: str, expected_status: str) -> bool:
        """Tell whether the message has this status."""
        _require(notification_id, self.db.notifications, "Notification")
        return bool(self.db.notifications[notification_id].status == expected_status)


def mock_blueprint(database: Any, user_database: Any = DEFAULT_USER_DATABASE) -> Blueprint:
    """Make the mock domain over the parsed content of its `db.json` and `user_db.json`.

    Raises:
        DataError: The contents are not such databases.
    """
    names = TOOL_NAMES["mock"]
    return Blueprint(
        agent=Side(
            toolkit=MockTools,
            new_database=database_factory(MockDB, database),
            sources=partial(_sources, MockTools, names.agent),
        ),
        user=Side(
            toolkit=MockUserTools,
            new_database=database_factory(MockUserDB, user_database),
            sources=partial(_sources, MockUserTools, names.user),
        ),
    )


def _sources(toolkit: type, names: Mapping[str, bool]) -> dict[str, ToolSource]:
    return {name: ToolSource(function=getattr(toolkit, name)) for name in names}
