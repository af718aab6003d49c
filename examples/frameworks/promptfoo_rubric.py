"""The assertion `llm-rubric` of promptfoo, by its own program.

npm install --global promptfoo
judgesheet probe --model python/promptfoo_rubric:judge --prompt score_order=score_order.jinja
"""

import json
import os
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from parts import UNREAD, grading

OFF = {f"PROMPTFOO_DISABLE_{what}": "1" for what in ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")}
SWITCHES = {**OFF, "PROMPTFOO_FAILED_TEST_EXIT_CODE": "0"}
OPTIONS = ("--no-cache", "--no-write", "--no-table", "--no-progress-bar")
UNREADABLE = ("Could not extract JSON", "llm-rubric produced malformed", "No output")


def judge(messages, params):
    """What judgesheet calls: one question, one reply."""
    asked, _, rubric = grading(messages)
    value = (
        f"Graded is a response to this request:\n{asked['request']}\n\n"
        f"Criterion: {asked['criterion']}\n\nChoose the score that fits.\n{rubric}"
    )
    limits = {name: params[name] for name in ("temperature", "max_tokens")}
    test = {
        "vars": {"output": quoted(asked["response"])},
        "assert": [{"type": "llm-rubric", "value": quoted(value)}],
        "options": {"provider": {"id": "openai:chat:gpt-4.1-mini", "config": limits}},
    }
    # The provider "echo" gives a prompt back as the output, so that ours is the output.
    config = {"prompts": ["{{output}}"], "providers": ["echo"], "tests": [test]}
    with TemporaryDirectory() as folder:
        given, results = Path(folder, "config.json"), Path(folder, "results.json")
        given.write_text(json.dumps(config))
        environment = {**os.environ, **SWITCHES, "PROMPTFOO_CONFIG_DIR": folder}
        command = ["promptfoo", "eval", "-c", given, "-o", results, *OPTIONS]
        subprocess.run(command, env=environment, capture_output=True, check=True)  # noqa: S603
        (row,) = json.loads(results.read_text())["results"]["results"]
    (said,) = (row["gradingResult"] or {}).get("componentResults") or [None]
    if said is None or (said.get("metadata") or {}).get("graderError"):
        raise RuntimeError(row["error"] if said is None else said["reason"])
    return UNREAD if said["reason"].startswith(UNREADABLE) else f"[RESULT] {said['score']:g}"


def quoted(text):
    """A text in which promptfoo finds no template and no file, which could show the environment."""
    return "{{ " + json.dumps(re.sub(r"\{(?=[{%#])", "{ ", text)) + " }}"


judge.framework = "promptfoo, llm-rubric"
judge.axes = ("score_order",)
judge.note = (
    "The prompt of llm-rubric gives two examples of its own, scored 1.0 and 0.0, and has no field "
    "for a request, which is put into the rubric. Braces of a template are shown with a space."
)
