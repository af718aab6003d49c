"""judgesheet measures an LLM judge before anyone trusts it.

Every command of the command line is a function here: `judgesheet.probe("sim/fair", out="run")`.
They are loaded on first use, so that importing the package costs nothing.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from judgesheet.api import (
        Decided,
        Request,
        Run,
        attach,
        compare,
        consensus,
        doctor,
        explain,
        gate,
        import_stimuli,
        ingest,
        load,
        measure,
        plan,
        probe,
        render,
    )

__all__ = [
    "Decided",
    "Request",
    "Run",
    "__version__",
    "attach",
    "compare",
    "consensus",
    "doctor",
    "explain",
    "gate",
    "import_stimuli",
    "ingest",
    "load",
    "measure",
    "plan",
    "probe",
    "render",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from judgesheet import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return __all__
