"""An axis is one folder: nothing outside it is touched, in our package or in somebody else's."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOY = Path(__file__).parent / "toy" / "greeting_order"
COMMANDS = """
import contextlib, io, json, sys
import judgesheet.axes

if sys.argv[1] == "folder":
    judgesheet.axes.__path__.append(sys.argv[2])
from judgesheet.cli import main

for command in json.loads(sys.argv[3]):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            code = main.main(command, standalone_mode=False) or 0
    except SystemExit as end:
        code = end.code or 0
    print(json.dumps([command, code, out.getvalue()]))
"""
POLICY = '[[limit]]\nkey = "greeting_order.first_share"\nmax = 0.6\nwhy = "taste"\n'
JUDGMENT = {"axis": "greeting_order", "repeat": 0, "verdict": "Hi"}


def as_folder(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """The folder beside our own axes."""
    shutil.copytree(TOY, tmp_path / "axes" / "greeting_order")
    return tmp_path / "axes", {}


def as_package(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """The same, installed from a package with an entry point."""
    source, target = tmp_path / "source", tmp_path / "installed"
    shutil.copytree(TOY, source / "greeting_order")
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "greeting-order"\nversion = "1"\n'
        '[project.entry-points."judgesheet.axes"]\n'
        'greeting_order = "greeting_order:GreetingOrder"\n'
    )
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
         "--disable-pip-version-check", "--target", str(target), str(source)],
        check=True,
    )  # fmt: skip
    return target, {"PYTHONPATH": f"{target}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}


@pytest.mark.parametrize("last", [2, 3, 4])
def test_an_axis_grows_step_by_step(last: int, tmp_path: Path) -> None:
    place, _ = as_folder(tmp_path)
    module, run = place / "greeting_order" / "__init__.py", tmp_path / "run"
    source = module.read_text(encoding="utf-8")
    ends = [found.start() for found in re.finditer(r"^ *# -- step ", source, re.MULTILINE)]
    assert len(ends) == 4
    module.write_text(source[: [*ends, None][last]], encoding="utf-8")
    log = tmp_path / "log.jsonl"
    orders = (["Hi", "Hey"], ["Hey", "Hi"])
    rows = [
        {**JUDGMENT, "stimulus": f"s{n}", "cell": {"item": f"s{n}", "order": order}}
        for n in range(6)
        for order in orders
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["ingest", str(log), "--out", str(run), "--no-pdf"]
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, "folder", str(place), json.dumps([command])],
        capture_output=True,
        text=True,
        check=True,
    )
    _, code, _ = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stderr
    [axis] = json.loads((run / "datasheet.json").read_text())["axes"]
    values = {one["key"]: one["value"] for one in axis["estimates"]}
    assert values["greeting_order.first_share"] == 0.5
    assert values["greeting_order.loss_rate"] == 0
    assert bool(axis["declared"]) == (last > 2)


def test_an_axis_more_passes_all_tests_that_ask_which_axes_there_are(tmp_path: Path) -> None:
    """Nothing outside its folder is touched: neither code, nor tests, nor pages."""
    place, _ = as_folder(tmp_path)
    code = (
        "import sys, judgesheet.axes; judgesheet.axes.__path__.append(sys.argv[1]); "
        "import pytest; sys.exit(pytest.main(sys.argv[2:]))"
    )
    asking = [
        str(file)
        for file in Path(__file__).parent.rglob("test_*.py")
        if re.search(r"all_axes|ORDER_AXES", file.read_text(encoding="utf-8"))
    ]
    chosen = ["-q", "-p", "no:cacheprovider", "-k", "greeting_order"]
    chosen += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # it is imported already
    done = subprocess.run(
        [sys.executable, "-c", code, str(place), *chosen, *asking],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent.parent,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(asking) > 10


@pytest.mark.parametrize("kind", ["folder", "package"])
def test_a_new_axis_goes_through_every_command(kind: str, tmp_path: Path) -> None:
    place, environment = (as_folder if kind == "folder" else as_package)(tmp_path)
    log, policy, run = tmp_path / "log.jsonl", tmp_path / "policy.toml", str(tmp_path / "run")
    rows = [
        {**JUDGMENT, "stimulus": f"s{n}", "cell": {"item": f"s{n}", "order": ["Hi", "Hey"]}}
        for n in range(6)
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    policy.write_text(POLICY)
    table = tmp_path / "table.csv"
    table.write_text("occasion,greeting\nmorning,Hello\nmorning,Good day\nnight,Bye\n")
    mapped = ["--map", "prompt=occasion", "--map", "text=greeting"]
    pairs = str(tmp_path / "pairs.jsonl")
    judge = ["--model", "sim/first-biased?first=6", "--axis", "greeting_order"]
    commands = [
        ["stimuli", "list"],
        ["stimuli", "check", "--axis", "greeting_order"],
        [
            "stimuli",
            "import",
            "csv",
            str(table),
            "--axis",
            "greeting_order",
            *mapped,
            "--out",
            pairs,
        ],
        ["plan", *judge],
        ["probe", *judge, "--out", run, "--quiet", "--no-pdf"],
        ["ingest", str(log), "--out", str(tmp_path / "recorded"), "--no-pdf"],
        ["measure", run, "--to", "html"],
        ["render", run, "--to", "md"],
        ["gate", run, "--policy", str(policy)],
        ["explain", "greeting_order.first_share"],
        ["cases", run, "greeting_order.first_share"],
    ]
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, kind, str(place), json.dumps(commands)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    answers = map(json.loads, done.stdout.splitlines())
    reported = {tuple(command[:2]): (code, text) for command, code, text in answers}
    codes = {command[0]: code for command, (code, _) in reported.items()}
    assert codes == {**dict.fromkeys(codes, 0), "gate": 3}, done.stderr
    texts = {command: text for command, (_, text) in reported.items()}
    assert "greeting_order" in texts["stimuli", "list"]
    assert "1 stimulus for greeting_order" in texts["stimuli", "import"]
    assert "skipped 1: not two responses (first: table.csv:4)" in texts["stimuli", "import"]
    assert "16" in texts["plan", "--model"]
    assert texts["cases", run].startswith("16 calls\n")
    assert "first greeting" in (Path(run) / "datasheet.md").read_text()
    sheet = json.loads((Path(run) / "datasheet.json").read_text())
    share, *_ = sheet["axes"][0]["estimates"]
    assert share["value"] > 0.9
    assert sheet["axes"][0]["characteristics"][0]["symbol"] == "G"
    assert sheet["provenance"]["prompts"][0]["permuted"] == ["greetings"]
    recorded = json.loads((tmp_path / "recorded" / "datasheet.json").read_text())
    assert recorded["axes"][0]["estimates"][0]["value"] == 1
