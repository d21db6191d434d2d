"""Where the JSON texts of a file begin and end."""

import io

import pytest

from tau_bridge.json_texts import json_texts


def texts_of(content, **options):
    found = json_texts(io.BytesIO(content), **options)
    return [(each.line, each.error or each.text.strip()) for each in found]


@pytest.mark.parametrize("size", [11, 1024 * 1024, 3 * 1024 * 1024])
def test_a_line_beyond_the_limit_is_skipped_to_its_end_however_long_it_is(size):
    first, (line, text) = texts_of(b'"' + b"x" * size + b'"\n{"a": 1}\n', max_bytes=10)
    assert (line, text) == (2, '{"a": 1}')
    assert first[0] == 1
    assert "longer than" in first[1]


def test_a_line_of_exactly_the_limit_is_read():
    assert texts_of(b'{"a": 123}\n[1]\n', max_bytes=10) == [(1, '{"a": 123}'), (2, "[1]")]
    [(_, error), _] = texts_of(b'{"a": 1234}\n[1]\n', max_bytes=10)
    assert "longer than" in error


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_refused_in_its_first_line(encoding):
    [(line, error)] = texts_of('\ufeff{"a": 1}\n'.encode(encoding))
    assert (line, error) == (1, "the file is UTF-16: save it as UTF-8")


def test_blank_lines_count_and_are_left_out():
    assert texts_of(b"\n  \n[1]\n\n[2]") == [(3, "[1]"), (5, "[2]")]


@pytest.mark.parametrize(
    ("content", "documents"),
    [
        (b'{\n"a": 1}\n', 1),
        (b"[\n1,\n2]\n", 1),
        (b'{"a":\n1}\n', 1),
        (b'{"a": 1}\n{"b": 2}\n', 2),
        (b'broken\n{"b": 2}\n', 2),
    ],
)
def test_a_file_is_one_document_or_a_text_a_line(content, documents):
    assert len(texts_of(content)) == documents
