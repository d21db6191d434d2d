"""documents: the site's pages as HTML, in the look of a run's page."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from adk_agent.present.page.document import TEMPLATES, asset, content_hash, escaping_environment
from adk_agent.site.history import height_of

SITE = "adk_agent.site"


@cache
def _environment() -> Environment:
    environment = escaping_environment(SITE, TEMPLATES)
    environment.globals.update(
        style=Markup(_style()),  # noqa: S704 - our own file
        script=Markup(_script()),  # noqa: S704 - our own file
        height_of=height_of,
    )
    return environment


@cache
def _style() -> str:
    return asset("style.css") + asset("site.css", SITE)


@cache
def _script() -> str:
    return asset("live.js", SITE)


@cache
def content_policy() -> str:
    """Return the Content-Security-Policy of the site's pages."""
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src 'sha256-{content_hash(_style())}'",
            f"script-src 'sha256-{content_hash(_script())}'",
            "connect-src 'self'",
            "img-src data:",  # the empty icon, for which browsers would ask otherwise
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def page(template: str, **values: Any) -> str:
    """Render one of the site's pages."""
    return _environment().get_template(template).render(**values)
