"""Page one counts what was asked."""

import json
from pathlib import Path

from tests.command import run

LEVELS = ["Says nothing.", "Names the fault.", "Says what to do."]
THINGS = ("kettle", "passport", "bicycle", "invoice", "garden", "violin", "ferry", "antenna")


def request(thing: str, at: int) -> str:
    return f"{'What' * (at % 2)} about the {thing} that {' '.join(THINGS[at:])} {at * 7919}?"


def own_stimuli(folder: Path, *, same: bool) -> Path:
    """Two files about the same chats, or about others under the same names."""
    pairs = [
        {"id": thing, "request": request(thing, at), "u": f"The {thing} is {at} days late.",
         "v": f"Bring the {thing} to desk {at * 31} and ask for Ann."}
        for at, thing in enumerate(THINGS)
    ]  # fmt: skip
    scored = [
        {"id": thing, "domain": "chats", "prompt": request(thing, at) if same else thing * 9,
         "rubric": {"criterion": "Does it help?", "levels": LEVELS},
         "candidates": [{"id": "a", "text": f"The {thing} is {at} days late.", "human": [1, 2]},
                        {"id": "b", "text": f"Ask desk {at * 31} for Ann.", "human": [3, 3]}]}
        for at, thing in enumerate(THINGS)
    ]  # fmt: skip
    folder.mkdir()
    for name, lines in (("candidate_order", pairs), ("score_order", scored)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_chats_that_two_axes_ask_about_count_once(tmp_path: Path) -> None:
    for same, told in ((True, 8), (False, 16)):
        stimuli = own_stimuli(tmp_path / f"data-{same}", same=same)
        out = tmp_path / f"run-{same}"
        done = run("probe", "--model", "sim/good", "--stimuli", stimuli, "--profile", "quick",
                   "--axis", "candidate_order", "--axis", "score_order", "--out", out)  # fmt: skip
        assert done.returncode == 0, done.stderr
        page = (out / "datasheet.html").read_text("utf-8")
        assert f"calls on {told} stimuli" in page
