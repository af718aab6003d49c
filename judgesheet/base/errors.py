"""The errors that judgesheet raises, one sentence each.

A judge that times out, refuses or replies nonsense is *data* (`records.Reply.outcome`), never one
of these.
"""

from typing import Self


class JudgesheetError(Exception):
    """One sentence that says what is wrong and what to do; the process ends with `exit_code`."""

    exit_code = 1
    place: tuple[str | int, ...] = ()
    """Where in a file, as far as that is known: table, its number from 0, field."""

    def at(self, *place: str | int) -> Self:
        """The error, with its place in a file."""
        self.place = place
        return self


class UsageError(JudgesheetError):
    """The command line asks for something that cannot be done."""

    exit_code = 2


class StimuliError(JudgesheetError):
    """A stimuli file cannot be used; the sentence names the file and the line."""


class PolicyError(JudgesheetError):
    """A policy cannot be used; the sentence names the file and the field."""


class TemplateError(JudgesheetError):
    """A template of the user's has a fault, or does not show what the axis permutes."""


class ParserError(JudgesheetError):
    """A parser file does not parse, or misreads its own examples."""


class JudgeError(JudgesheetError):
    """The judge cannot be opened, or further calls would be wasted."""


class StoppedError(JudgeError):
    """A run stopped before its end; what had arrived is kept, and it can be resumed."""

    exit_code = 5


class RunError(JudgesheetError):
    """A run directory holds something else, cannot be written or is not complete."""


class InUseError(RunError):
    """Another process writes this run."""


class OtherRunError(RunError):
    """A directory holds the replies to other questions, or those of another judge."""


class DamagedError(RunError):
    """A file of a run does not hold what it must."""


class ContradictionError(RunError):
    """A datasheet whose parts cannot all be true."""


class MissingDependencyError(JudgesheetError):
    """A library is missing; the sentence gives the command that installs it."""


def is_interrupt(error: BaseException) -> bool:
    """Whether it is Ctrl-C; while a class is made, Python 3.11 raises a RuntimeError from it."""
    return isinstance(error.__cause__ or error, KeyboardInterrupt)
