"""`judgesheet doctor`: can this machine and endpoint run a probe, and is a run directory whole?"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesheet.base.errors import UsageError
from judgesheet.commands.options import AUTH, BASE_URL, JSON, KEY, option
from judgesheet.commands.terminal import say, say_record

if TYPE_CHECKING:
    from judgesheet.commands.checkup import Diagnosis


def doctor(
    model: str | None = None,
    *,
    directory: str | Path | None = None,
    **how: Any,
) -> "list[Diagnosis]":
    """Check the machine, and with `model` also the endpoint (a few tiny questions).

    `how` it is reached: `base_url`, `api_key_env`, `auth` and `transport`, as with `probe`. With a
    `directory`, the ledger of that run is checked instead.
    """
    from judgesheet.commands.checkup import examine

    if directory is None:
        return examine(model, **how)
    if model is not None:
        raise UsageError("give a run directory or --model, not both")
    from judgesheet.commands.run_checkup import examine_run

    return list(examine_run(Path(directory)))


@click.command("doctor")
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False),
                required=False)  # fmt: skip
@option("--model", metavar="PROVIDER/NAME", help="Also ask this endpoint.")
@BASE_URL
@KEY
@AUTH
@JSON
def command(as_json: bool, **options: Any) -> None:
    """Check this machine, and an endpoint if --model is given; or the ledger of a run DIRECTORY.

    A ledger passes if it is undamaged, its calls are those of its plan with the ids of their
    contents, and each is settled once. Nothing is changed. `verify` compares a sheet with its run.
    """
    checks = doctor(**options)
    if as_json:
        say_record([asdict(check) for check in checks])
    else:
        for check in checks:
            say(f"{check.status:8} {check.what}: {check.detail}")
    if any(check.status == "failed" for check in checks):
        raise SystemExit(1)
