"""judgesheet measures an LLM judge before anyone trusts it.

Every command of the command line is a function here: `judgesheet.probe("sim/fair", out="run")`.
They are loaded on first use, so that importing the package costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from judgesheet.api import (
        attach,
        cases,
        check_init,
        check_stimuli,
        compare,
        consensus,
        designs,
        doctor,
        explain,
        foresee,
        frame,
        gate,
        import_stimuli,
        ingest,
        init,
        inspect_log,
        list_stimuli,
        load,
        measure,
        plan,
        render,
        show_stimulus,
        suggest_policy,
    )
    from judgesheet.collect.request import Request
    from judgesheet.commands.probing import probe
    from judgesheet.commands.run import Run
    from judgesheet.judges.transport import HttpTransport
    from judgesheet.permutation_consensus.command import Decided

__all__ = [
    "Decided",
    "HttpTransport",
    "Request",
    "Run",
    "__version__",
    "attach",
    "cases",
    "check_init",
    "check_stimuli",
    "compare",
    "consensus",
    "designs",
    "doctor",
    "explain",
    "foresee",
    "frame",
    "gate",
    "import_stimuli",
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
]
_HOMES = {
    "Decided": "permutation_consensus.command",
    "HttpTransport": "judges.transport",
    "Request": "collect.request",
    "probe": "commands.probing",
    "Run": "commands.run",
}
"""Where those names live that are not in `api`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        from judgesheet.base.version import version

        globals()[name] = told = version()
        return told
    from importlib import import_module

    home = _HOMES.get(name, "api")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return __all__
