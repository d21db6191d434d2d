"""The A2A extensions that the assessor asks participants to activate, and offers its own callers."""

from __future__ import annotations

TRACEABILITY_URI = "https://github.com/a2aproject/a2a-samples/extensions/traceability/v1"
TRACEABILITY_KEY = f"{TRACEABILITY_URI.removeprefix('https://')}/traceability"
"""Metadata key under which a ResponseTrace travels."""

TIMESTAMP_URI = "https://github.com/a2aproject/a2a-samples/samples/extensions/timestamp/v1"
TIMESTAMP_SAMPLE_URI = "https://github.com/a2aproject/a2a-samples/extensions/timestamp/v1"
"""The spelling of the sample code, which differs from its specification's."""

TIMESTAMP_KEYS = {
    uri: f"{uri.removeprefix('https://')}/timestamp"
    for uri in (TIMESTAMP_URI, TIMESTAMP_SAMPLE_URI)
}
"""The metadata key under which the time of a message or an artifact travels, by URI."""

REQUESTED_EXTENSIONS = (TRACEABILITY_URI, TIMESTAMP_URI, TIMESTAMP_SAMPLE_URI)

EXTENSIONS_HEADER = "A2A-Extensions"
LEGACY_EXTENSIONS_HEADER = "X-A2A-Extensions"
"""The header of protocol 0.3. Protocol 1.0 ignores it."""


def activation_headers() -> dict[str, str]:
    """Return headers that ask for the extensions, in the spelling of both protocol versions."""
    value = ",".join(REQUESTED_EXTENSIONS)
    return {EXTENSIONS_HEADER: value, LEGACY_EXTENSIONS_HEADER: value}
