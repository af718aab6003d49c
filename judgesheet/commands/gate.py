"""`judgesheet gate`: a datasheet against the limits of a policy, for CI."""

import os
from pathlib import Path
from typing import Any

import click

from judgesheet.base.files import write_whole
from judgesheet.base.records import Datasheet, Verdict
from judgesheet.commands.compare import comparison_of
from judgesheet.commands.options import ACROSS, EXISTING, JSON, PATH, POLICIES, VERBOSE, option
from judgesheet.commands.reporting import say_decision
from judgesheet.commands.sheets import load, sheet_of
from judgesheet.commands.terminal import say, say_command, say_json
from judgesheet.sheet import render


def gate(
    source: str | Path,
    policy: str | Path,
    *,
    baseline: str | Path | None = None,
    junit: str | Path | None = None,
    force: bool = False,
    across_prompts: bool = False,
) -> Datasheet:
    """The datasheet of `source` with a policy's verdicts and decision; nothing in it is changed.

    A limit is kept if the one-sided 95 % bound of its figure is within it, in the figure's unit
    (shares from 0 to 1), and broken if the other bound is beyond it.

    `sheet.decision.verdict` is `adopt`, `conditions`, `reject` or `not_proven`. With a `baseline`
    (run directory or datasheet.json) it is also compared with that one. A baseline that answered
    other questions proves nothing, unless `across_prompts` lets it be of another prompt, or `force`
    of anything else. `junit` names a file for the verdicts.

    RunError if the sheet cannot be read, PolicyError if the policy has a fault.
    """
    from judgesheet.decide import decide
    from judgesheet.decide import policy as policies
    from judgesheet.decide.baseline import against, regressions, unanswered, with_remarks
    from judgesheet.decide.compare import OtherQuestionsError

    rules, sheet = policies.load(policy), load(source)
    extra: tuple[Verdict, ...] = ()
    if baseline is not None:
        places, sheets = (baseline, source), (load(baseline), sheet)
        try:
            comparison = comparison_of(
                places,
                sheets,
                {one.key for one in regressions(rules)},
                force=force,
                across_prompts=across_prompts,
            )
        except OtherQuestionsError as why:
            extra = tuple(unanswered(sheet, why, str(sheet_of(source))))
        else:
            sheet, extra = with_remarks(sheet, comparison), against(comparison, rules)
    judged = decide(sheet, rules, extra)
    if junit is not None:
        write_whole(Path(junit), render(judged, "junit"))
    return judged


@click.command("gate")
@click.argument("source", type=EXISTING)
@option("--policy", required=True, metavar="FILE|NAME", help=f"The limits: {POLICIES}")
@option("--junit", type=PATH, help="Write the verdicts as JUnit XML.")
@option(
    "--baseline",
    type=EXISTING,
    help="An earlier run or datasheet; fail if this judge is worse.",
)
@ACROSS
@option("--force", is_flag=True, help="Use a baseline that answered other questions.")
@VERBOSE
@JSON
def command(verbose: bool, as_json: bool, **options: Any) -> None:
    """Check a datasheet (run directory or datasheet.json) against the limits of a policy.

    Exits 0 for ADOPT and ADOPT ONLY IF, 3 for DO NOT ADOPT, 4 for MEASURE MORE.
    """
    from judgesheet.decide import EXIT_CODES
    from judgesheet.sheet import verdicts

    sheet = gate(**options)
    assert sheet.decision is not None  # noqa: S101  (a gate decides)
    code = EXIT_CODES[sheet.decision.verdict]
    if as_json:
        say_json(verdicts.as_json(sheet, code))
    else:
        source = options["source"]
        run = source if source.is_dir() else source.parent
        say_decision(sheet, verbose=verbose, run=run)
    if os.environ.get("GITHUB_ACTIONS"):
        # The runner reads both streams; standard output stays one document under --json.
        for line in verdicts.annotations(sheet):
            say_command(line, err=as_json)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        _append(Path(summary), verdicts.as_markdown(sheet) + "\n")
    raise SystemExit(code)


def _append(path: Path, text: str) -> None:
    """Append to a file of the CI system; if that fails, the verdict still counts."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        say(f"judgesheet: the summary {path} was not written: {error.strerror}", err=True)
