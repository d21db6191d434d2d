"""Write the comment of a pull or merge request, or replace the one that an earlier run wrote.

    python scripts/pull_request_comment.py BODY.md

On GitHub it reads GITHUB_API_URL, GITHUB_REPOSITORY, PULL_REQUEST, TOKEN and COMMENT_AUTHOR, in a job
of GitLab CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID and GREENROOM_TOKEN; on both COMMENT_NAME.
An earlier comment is known by the marker at its head and by its author, so that one of somebody else
who quotes it is left alone. A comment that cannot be written is a warning: the evaluation counts.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

PER_PAGE = 100
MOST_PAGES = 30
TIMEOUT_S = 30.0
NAME = re.compile(r"[\w .-]{1,60}")


@dataclass(frozen=True)
class GitHub:
    """The comments of one pull request."""

    api: httpx.Client
    number: str
    author: str
    warning = "::warning::"
    error = "::error::"
    needs = "permissions: pull-requests: write"

    @classmethod
    def of_this_job(cls) -> GitHub:
        """Read what the action gives."""
        headers = {
            "Authorization": f"Bearer {os.environ['TOKEN']}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        issues = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
        api = httpx.Client(base_url=issues, headers=headers, timeout=TIMEOUT_S)
        return cls(api, os.environ["PULL_REQUEST"], os.environ["COMMENT_AUTHOR"])

    @property
    def comments(self) -> str:
        """The path of all comments."""
        return f"/{self.number}/comments"

    def is_by_us(self, comment: dict[str, Any]) -> bool:
        """Tell whether the job's own account wrote a comment."""
        return bool(comment["user"]["login"] == self.author)

    def replace(self, comment: int, body: str) -> httpx.Response:
        """Give a comment another text."""
        return self.api.patch(f"/comments/{comment}", json={"body": body})


@dataclass(frozen=True)
class GitLab:
    """The notes of one merge request."""

    api: httpx.Client
    number: str
    author: str
    warning = "warning: "
    error = "error: "
    needs = "in GREENROOM_TOKEN a project access token of scope api and role Reporter"

    @classmethod
    def of_this_job(cls) -> GitLab:
        """Read what GitLab gives to a job; the token's own account is the author.

        Raises:
            httpx.HTTPError: GitLab does not know the token, or does not answer.
        """
        headers = {"PRIVATE-TOKEN": os.environ.get("GREENROOM_TOKEN", "")}
        api = httpx.Client(base_url=os.environ["CI_API_V4_URL"], headers=headers, timeout=TIMEOUT_S)
        account = api.get("/user")
        account.raise_for_status()
        return cls(api, os.environ["CI_MERGE_REQUEST_IID"], account.json()["username"])

    @property
    def comments(self) -> str:
        """The path of all notes."""
        return f"/projects/{os.environ['CI_PROJECT_ID']}/merge_requests/{self.number}/notes"

    def is_by_us(self, comment: dict[str, Any]) -> bool:
        """Tell whether the token's account wrote a note."""
        return bool(comment["author"]["username"] == self.author)

    def replace(self, comment: int, body: str) -> httpx.Response:
        """Give a note another text."""
        return self.api.put(f"{self.comments}/{comment}", json={"body": body})


def main() -> int:
    """Write the comment and return the exit code: 2 for a name that cannot be used, else 0."""
    place = GitLab if os.environ.get("GITLAB_CI") else GitHub
    name = os.environ.get("COMMENT_NAME", "greenroom")
    if not NAME.fullmatch(name):
        told = f"name is {name!r}, but must be 1 to 60 letters, digits, spaces and . - _"
        print(place.error + told.replace("\n", " "))
        return 2
    marker = f"<!-- greenroom: {name} -->"
    body = f"{marker}\n{Path(sys.argv[1]).read_text(encoding='utf-8')}"
    why = ""
    try:
        print(write(place.of_this_job(), marker, body))
    except httpx.HTTPStatusError as error:
        reply, asked = error.response, error.request
        why = f"{reply.status_code} {reply.reason_phrase} ({asked.method} {asked.url.path})"
        why += f"; it needs {place.needs}" if reply.status_code in (401, 403, 404) else ""
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
        why = f"{type(error).__name__}: {error}"
    if why:
        told = f"the comment could not be written: {why}"
        print(place.warning + " ".join(told.split()))
    return 0


def write(place: GitHub | GitLab, marker: str, body: str) -> str:
    """Write or replace the comment, and say so.

    Raises:
        httpx.HTTPError: It could not be written.
        ValueError, KeyError, TypeError: The reply is not that of such an API.
    """
    with closing(place.api) as api:
        earlier = find(place, marker)
        if earlier is None:
            reply = api.post(place.comments, json={"body": body})
        else:
            reply = place.replace(earlier, body)
        reply.raise_for_status()
        done = "written" if earlier is None else "replaced"
        return f"comment {done}: {reply.json().get('html_url', place.comments)}"


def find(place: GitHub | GitLab, marker: str) -> int | None:
    """Return the id of the earlier comment; None if there is none."""
    for page in range(1, MOST_PAGES + 1):
        reply = place.api.get(place.comments, params={"per_page": PER_PAGE, "page": page})
        reply.raise_for_status()
        comments = reply.json()
        for comment in comments:
            if comment["body"].startswith(marker) and place.is_by_us(comment):
                return int(comment["id"])
        if len(comments) < PER_PAGE:
            break
    return None


if __name__ == "__main__":
    sys.exit(main())
