"""One writer, one reader, one way to make a name: what every file of ours goes through."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesheet.base.errors import RunError, StimuliError
from judgesheet.base.files import decoded, records, slug, write_lines, write_whole
from judgesheet.base.limits import LONGEST_LINE


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.jsonl"
    write_lines(path, ["one", "zwei \N{SNOWMAN}"])
    assert path.read_text(encoding="utf-8") == "one\nzwei \N{SNOWMAN}\n"

    def lines() -> Iterator[str]:
        yield "half"
        raise StimuliError("no more")

    with pytest.raises(StimuliError, match="no more"):
        write_lines(path, lines())
    assert path.read_text(encoding="utf-8").startswith("one\n")
    assert list(path.parent.iterdir()) == [path]


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(RunError):
        write_whole(tmp_path / "file" / "below.json", b"{}")


def test_a_device_is_written_to_and_not_replaced() -> None:
    device = Path("/dev/null")
    write_whole(device, b"gone")
    assert device.is_char_device()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_records_tell_their_places(tmp_path: Path, name: str, encoding: str) -> None:
    path = tmp_path / name
    content = '{"a": 1}\n\n  {"a": 2}\r\n'.encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    assert list(records(path)) == [({"a": 1}, f"{name}:1"), ({"a": 2}, f"{name}:3")]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", b'{"a": 1}\n{"a":\n', "a.jsonl:2: not JSON"),
        ("a.jsonl", b"[1]\n", "a.jsonl:1: a JSON list, not an object"),
        ("a.jsonl", b"[" * 100_000, "a.jsonl:1: not JSON"),
        ("a.jsonl", b"{}\n" * 9999 + b'{"a": "\xff"}\n', "a.jsonl:10000: not UTF-8"),
        (
            "a.jsonl",
            b" " * (LONGEST_LINE + 1),
            f"a.jsonl:1: the line has more than {LONGEST_LINE:,}",
        ),
        ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 999, mtime=0)[:-9], "cannot be read"),
        ("a.jsonl.gz", b"{}", "cannot be read"),
    ],
    ids=["half", "list", "deep", "not UTF-8", "long", "cut gzip", "no gzip"],
)
def test_what_cannot_be_read_is_one_sentence(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(StimuliError) as caught:
        list(records(path))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StimuliError, match=r"absent\.jsonl"):
        list(records(tmp_path / "absent.jsonl"))


@given(st.text())
def test_a_slug_is_a_plain_file_name(text: str) -> None:
    name = slug(text)
    assert name == slug(name)
    assert name.strip(".-") == name
    assert all(category(sign)[0] in "LMN" or sign in ".-" for sign in name)
    assert len(name.encode()) <= 255


def test_a_slug_keeps_other_scripts_and_the_end_of_a_long_name() -> None:
    assert slug("vllm/評価器 v2") == "vllm-評価器-v2"
    long = f"local/{'models/' * 20}judge-{{}}.gguf"
    assert slug(long.format("q4_0")) != slug(long.format("q8_0"))
    assert slug(long.format("q4_0")).endswith("judge-q4-0.gguf")


def test_no_output_takes_the_place_of_a_ledger(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    ledger.write_bytes(b"SQLite format 3\0 and paid replies")
    with pytest.raises(RunError):
        write_whole(ledger, b"<html>")
    assert ledger.read_bytes().endswith(b"paid replies")


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
))  # fmt: skip
def test_json_is_read_as_the_standard_library_does(value: object) -> None:
    assert repr(decoded(json.dumps(value))) == repr(json.loads(json.dumps(value)))


@pytest.mark.parametrize("text", ["NaN", "1e999", '"\\ud800"', str(2**64), '{"a": 1, "a": 2}'])
def test_what_one_decoder_refuses_is_read_all_the_same(text: str) -> None:
    assert repr(decoded(text)) == repr(json.loads(text))
