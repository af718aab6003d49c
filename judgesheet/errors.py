"""Everything that judgesheet itself can get wrong, one sentence each.

    JudgesheetError          our own failure; the command line prints it and exits 1
    ├── UsageError           the command cannot be carried out as given; exits 2
    ├── StimuliError         a stimuli file is broken; names file and line
    ├── PolicyError          a policy file is broken; names the field
    ├── TemplateError        a prompt template cannot be used
    ├── ParserError          a parser file cannot be used
    ├── JudgeError           a judge cannot be opened or must not be asked any further
    ├── RunError             a run directory or ledger cannot be used
    └── MissingDependencyError an optional or system library is absent; names the command

A judge that times out, refuses or talks nonsense is *data* (`records.Reply.outcome`), never one
of these.
"""


class JudgesheetError(Exception):
    """One sentence that says what is wrong and what to do; `exit_code` is the process's."""

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
    """A parser file does not parse, or does not read its own examples as it says."""


class JudgeError(JudgesheetError):
    """The judge cannot be opened, or further calls would be wasted."""


class RunError(JudgesheetError):
    """A run directory holds something else, cannot be written or is not complete."""


class MissingDependencyError(JudgesheetError):
    """A library is missing; the sentence gives the command that installs it."""
