"""`judgesheet doctor`: can this machine and endpoint run a probe?"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from judgesheet.commands.options import JSON, option, reached
from judgesheet.commands.terminal import say, say_record

if TYPE_CHECKING:
    from judgesheet.commands.checkup import Diagnosis


def doctor(model: str | None = None, **how: Any) -> "list[Diagnosis]":
    """Check the machine, and with `model` also the endpoint (a few tiny questions).

    `how` it is reached and asked, as with `probe`: `base_url`, `api_key_env`, `extra_body`, `auth`,
    `transport`, `temperature` and `max_tokens`, without which a reply has at most 64 tokens.
    """
    from judgesheet.commands.checkup import examine

    return examine(model, **how)


@click.command("doctor")
@option("--model", metavar="PROVIDER/NAME", help="Also ask this endpoint.")
@reached
@JSON
def command(as_json: bool, **options: Any) -> None:
    """Check this machine, and an endpoint if --model is given."""
    checks = doctor(**options)
    if as_json:
        say_record([asdict(check) for check in checks])
    else:
        for check in checks:
            say(f"{check.status:8} {check.what}: {check.detail}")
    if any(check.status == "failed" for check in checks):
        raise SystemExit(1)
