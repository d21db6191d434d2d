"""Reading spans back from the lines of an export."""

import json


def attributes(span):
    return {each["key"]: next(iter(each["value"].values())) for each in span.get("attributes", [])}


def spans_in(line):
    [resource] = json.loads(line)["resourceSpans"]
    [scope] = resource["scopeSpans"]
    return scope["spans"]
