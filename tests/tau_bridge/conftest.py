import json

import pytest

from tau_bridge.trace_file import read_trace_file


@pytest.fixture
def entries(tmp_path):
    """Reads a file of these values as JSON lines, of this text, or of these bytes."""

    def read(content, **options):
        if isinstance(content, list):
            content = "".join(json.dumps(value) + "\n" for value in content)
        path = tmp_path / "file.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(read_trace_file(path, **options))

    return read
