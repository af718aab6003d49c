"""The errors that judgesheet raises, one sentence each.

A judge that times out, refuses or replies nonsense is *data* (`records.Reply.outcome`), never one
of these.
"""


class JudgesheetError(Exception):
    """One sentence that says what is wrong and what to do; the process ends with `exit_code`."""

    exit_code = 1


class UsageError(JudgesheetError):
    """The command line asks for something that cannot be done."""

    exit_code = 2


class StimuliError(JudgesheetError):
    """A stimuli file cannot be used; the sentence names the file and the line."""


class PolicyError(JudgesheetError):
    """A policy cannot be used; the sentence names the file and the field."""


class TemplateError(JudgesheetError):
    """A prompt template does not parse or does not show what the axis permutes."""


class ParserError(JudgesheetError):
    """A parser file does not parse, or misreads its own examples."""


class JudgeError(JudgesheetError):
    """The judge cannot be opened, or further calls would be wasted."""


class StoppedError(JudgeError):
    """A run stopped before its end; what had arrived is kept, and it can be gone on with."""

    exit_code = 5


class RunError(JudgesheetError):
    """A run directory holds something else, cannot be written or is not complete."""


class MissingDependencyError(JudgesheetError):
    """A library is missing; the sentence gives the command that installs it."""
