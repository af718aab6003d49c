"""judgesheet measures an LLM judge before anyone trusts it.

Every command of the command line is a function here: `judgesheet.probe("sim/fair", out="run")`, and
what these return and raise has its name here. All else is private, whatever it is called. Names are
loaded on first use, so that importing the package costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgesheet.base.effects import Effect, JudgedEffect
    from judgesheet.base.errors import JudgesheetError
    from judgesheet.base.records import Datasheet, Estimate
    from judgesheet.base.version import __version__
    from judgesheet.collect.options import Request
    from judgesheet.commands.attach import attach
    from judgesheet.commands.cases import cases
    from judgesheet.commands.compare import compare
    from judgesheet.commands.consensus import consensus
    from judgesheet.commands.correct import correct
    from judgesheet.commands.doctor import doctor
    from judgesheet.commands.explain import explain
    from judgesheet.commands.gate import gate
    from judgesheet.commands.index import index
    from judgesheet.commands.ingest import ingest
    from judgesheet.commands.init import check_init, init
    from judgesheet.commands.inspect_log import inspect_log
    from judgesheet.commands.measure import measure
    from judgesheet.commands.plan import forecasts, plan
    from judgesheet.commands.policy import suggest_policy
    from judgesheet.commands.probe import probe, sweep
    from judgesheet.commands.render import render
    from judgesheet.commands.sheets import Run, load
    from judgesheet.commands.stimuli import (
        check_stimuli,
        import_stimuli,
        list_stimuli,
        show_stimulus,
    )
    from judgesheet.commands.verify import verify
    from judgesheet.judges.transport import HttpTransport
    from judgesheet.permutation_consensus.command import Decided

__all__ = [
    "Datasheet",
    "Decided",
    "Effect",
    "Estimate",
    "HttpTransport",
    "JudgedEffect",
    "JudgesheetError",
    "Request",
    "Run",
    "__version__",
    "attach",
    "cases",
    "check_init",
    "check_stimuli",
    "compare",
    "consensus",
    "correct",
    "doctor",
    "explain",
    "forecasts",
    "gate",
    "import_stimuli",
    "index",
    "ingest",
    "init",
    "inspect_log",
    "list_stimuli",
    "load",
    "measure",
    "plan",
    "probe",
    "render",
    "show_stimulus",
    "suggest_policy",
    "sweep",
    "verify",
]
_HOMES = {
    "Datasheet": "base.records",
    "Decided": "permutation_consensus.command",
    "Effect": "base.effects",
    "Estimate": "base.records",
    "HttpTransport": "judges.transport",
    "JudgedEffect": "base.effects",
    "JudgesheetError": "base.errors",
    "Request": "collect.request",
    "Run": "commands.sheets",
    "__version__": "base.version",
    "check_init": "commands.init",
    "check_stimuli": "commands.stimuli",
    "forecasts": "commands.plan",
    "import_stimuli": "commands.stimuli",
    "list_stimuli": "commands.stimuli",
    "load": "commands.sheets",
    "show_stimulus": "commands.stimuli",
    "suggest_policy": "commands.policy",
    "sweep": "commands.probe",
}
"""Where a name lives; a command's function lies in the module of its name."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = _HOMES.get(name, f"commands.{name}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return __all__
