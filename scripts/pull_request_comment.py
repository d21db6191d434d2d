"""Write the comment of a pull request, or replace the one that an earlier run wrote.

    python scripts/pull_request_comment.py BODY.md

Reads GITHUB_API_URL, GITHUB_REPOSITORY, PULL_REQUEST, TOKEN, COMMENT_NAME and COMMENT_AUTHOR. An
earlier comment is known by the marker at its head and by its author, so that one of somebody else
who quotes it is left alone. A comment that cannot be written is a warning: the evaluation counts.
"""

import os
import re
import sys
from pathlib import Path

import httpx

PER_PAGE = 100
MOST_PAGES = 30
TIMEOUT_S = 30.0
NAME = re.compile(r"[\w .-]{1,60}")


def main() -> int:
    """Write the comment and return the exit code: 2 for a name that cannot be used, else 0."""
    name = os.environ["COMMENT_NAME"]
    if not NAME.fullmatch(name):
        print(
            f"::error::name is {name!r}, but must be 1 to 60 letters, digits, spaces and . - _".replace(
                "\n", " "
            )
        )
        return 2
    marker = f"<!-- greenroom: {name} -->"
    body = f"{marker}\n{Path(sys.argv[1]).read_text(encoding='utf-8')}"
    headers = {
        "Authorization": f"Bearer {os.environ['TOKEN']}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    api = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    number = os.environ["PULL_REQUEST"]
    try:
        with httpx.Client(base_url=api, headers=headers, timeout=TIMEOUT_S) as github:
            earlier = find(github, number, marker, os.environ["COMMENT_AUTHOR"])
            if earlier is None:
                reply = github.post(f"/{number}/comments", json={"body": body})
            else:
                reply = github.patch(f"/comments/{earlier}", json={"body": body})
            reply.raise_for_status()
    except httpx.HTTPStatusError as error:
        warn(f"{error.response.status_code} {error.response.reason_phrase}", error.request)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
        warn(f"{type(error).__name__}: {error}")
    else:
        print(f"comment {'written' if earlier is None else 'replaced'}: {reply.json()['html_url']}")
    return 0


def find(github: httpx.Client, number: str, marker: str, author: str) -> int | None:
    """Return the id of the earlier comment; None if there is none."""
    for page in range(1, MOST_PAGES + 1):
        reply = github.get(f"/{number}/comments", params={"per_page": PER_PAGE, "page": page})
        reply.raise_for_status()
        comments = reply.json()
        for comment in comments:
            if comment["body"].startswith(marker) and comment["user"]["login"] == author:
                return int(comment["id"])
        if len(comments) < PER_PAGE:
            break
    return None


def warn(why: str, request: httpx.Request | None = None) -> None:
    """Tell the person who reads the log, and GitHub's list of annotations."""
    what = "" if request is None else f" ({request.method} {request.url.path})"
    told = (
        f"the comment could not be written: {why}{what}; it needs permissions: pull-requests: write"
    )
    print(f"::warning::{' '.join(told.split())}")


if __name__ == "__main__":
    sys.exit(main())
