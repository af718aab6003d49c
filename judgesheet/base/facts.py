"""What a datasheet says of its run, its judge and its provenance, as records.

A field that is None, 0 or empty was not recorded, or did not happen. Sheets and ledgers of others
are checked once, where they are read (`files.checked`); what they hold beyond these fields is left
out. Only a judge may say more of itself than has a field here.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from judgesheet.base.effects import Use
from judgesheet.base.scale import Scale


@dataclass(frozen=True, slots=True)
class Sweep:
    """The parameter that runs of a sweep differ in, and its values in all of them."""

    name: str
    values: tuple[str, ...] = ()


REQUIRED = 10
"""Independent stimuli that most shipped policies require; sheets before 2.2 do not say."""


@dataclass(frozen=True, slots=True)
class PolicyName:
    """A policy beside its limits; `axes` are those that it limits, `use` what it is for, if any."""

    name: str
    title: str = ""
    digest: str = ""
    axes: tuple[str, ...] = ()
    min_independent: int | None = REQUIRED
    use: Use | None = None


@dataclass(frozen=True, slots=True)
class AxisLook:
    """How far an axis is: its look of so many, its stimuli, and the `level` of its intervals."""

    axis: str
    look: int
    of: int
    level: float
    stimuli: int
    stimuli_planned: int


@dataclass(frozen=True, slots=True)
class Looks:
    """How far a run is that is looked at while it grows, until a policy is decided.

    The run has reached `look` of `of`, both from 1, and has `ended` if no further one follows.
    `calls` are those asked so far, `needed` those that all looks would ask, `planned` those of the
    whole design.
    """

    policy: PolicyName
    ended: bool
    look: int
    of: int
    calls: int
    needed: int
    planned: int
    axes: tuple[AxisLook, ...]

    @property
    def levels(self) -> dict[str, float]:
        """Confidence of the intervals of each axis."""
        return {one.axis: one.level for one in self.axes}


@dataclass(frozen=True, slots=True)
class FirstReadings:
    """Replies before any was asked again, and how many of them could not be read."""

    replies: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class TakenOver:
    """Replies that are those of earlier runs, and when the oldest came (ISO 8601)."""

    replies: int
    runs: int = 0
    oldest_at: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A kind of failed attempts, with what the server said last."""

    outcome: str
    said: str
    attempts: int


@dataclass(frozen=True, slots=True)
class RunFacts:
    """How it was asked, how far it came, and what it took.

    `refused_parameters` has per parameter that the endpoint refuses the name it is sent under
    instead, None where it is not sent. `cost_usd` is in US dollars, what ends in `_s` in seconds,
    what ends in `_at` a time in ISO 8601.
    """

    profile: str | None = None
    axes: tuple[str, ...] = ()
    reply: str | None = None
    logprobs: bool | None = None
    temperature: float | None = None
    sequences: str | None = None
    sweep: Sweep | None = None
    repeats: int | None = None
    max_tokens: int | None = None
    retry_unreadable: int = 0
    refused_parameters: Mapping[str, str | None] = field(default_factory=dict)
    seed: int | None = None
    planned: int | None = None
    settled: int | None = None
    complete: bool | None = None
    looks: Looks | None = None
    answered: int | None = None
    unreadable: int | None = None
    refused: int | None = None
    failed: int | None = None
    attempts: int | None = None
    outcomes: Mapping[str, int] = field(default_factory=dict)
    first_readings: FirstReadings | None = None
    taken_over: TakenOver | None = None
    failures: tuple[Failure, ...] = ()
    held_back_s: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None
    longest_prompt_tokens: int | None = None
    cost_usd: float | None = None
    unmetered_attempts: int | None = None
    started_at: str | None = None
    ended_at: str | None = None
    wall_s: float | None = None
    latency_p50_s: float | None = None
    latency_p99_s: float | None = None
    machine: str = ""
    batches: tuple[str, ...] = ()
    review_days: int | None = None


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """Which judge was asked: `model` is its name as its user gave it, PROVIDER/NAME.

    `served_models` and `hosts` count the replies by the model and by the host that the endpoint
    named. `details` is what else the judge says of itself: in the file, its items stand beside the
    others.
    """

    model: str = ""
    provider: str = ""
    name: str = ""
    base_url: str | None = None
    served_models: Mapping[str, int] = field(default_factory=dict)
    hosts: Mapping[str, int] = field(default_factory=dict)
    earlier_base_urls: tuple[str, ...] = ()
    framework: str = ""
    note: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def gathered(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a judge as it is told of in a file, the others under `details`."""
        known = {one.name for one in fields(cls)} - {"details"}
        own = {name: value for name, value in given.items() if name in known}
        return {**own, "details": {name: given[name] for name in given.keys() - known}}

    @property
    def spread(self) -> dict[str, Any]:
        """The reverse: what a file tells of the judge."""
        known = asdict(self)
        details: dict[str, Any] = known.pop("details")
        return known | details


@dataclass(frozen=True, slots=True)
class StimulusPool:
    """The stimuli of an axis: those asked about, of all `in_pool`, and how many count as one.

    `responses` of `responses_held` are asked about where a profile leaves some out. `faults` is how
    many `stimuli check` finds, `templates` names the texts that share one, `cannot_show` says what
    these calls cannot show, `scale` is that of the user's own stimuli where it is not from 1.
    """

    axis: str
    name: str | None = None
    stimuli: int | None = None
    in_pool: int | None = None
    independent: int | None = None
    digest: str | None = None
    faults: int | None = None
    first_fault: str = ""
    templates: tuple[str, ...] = ()
    responses: int | None = None
    responses_held: int | None = None
    scale: Scale | None = None
    cannot_show: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DistinctStimuli:
    """The stimuli of all axes together, each once, and how many of them are independent."""

    stimuli: int
    independent: int


@dataclass(frozen=True, slots=True)
class PromptUsed:
    """The prompt of an axis, with an example of its messages and the parameters of its calls.

    `permuted` names the variables of the template that the axis permutes.
    """

    axis: str
    name: str | None = None
    digest: str | None = None
    template: str | None = None
    example: tuple[Mapping[str, str], ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    permuted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParserUsed:
    """A parser of the user's own; of one that read the same replies before, `source` is ""."""

    axis: str
    name: str
    digest: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class AxisCode:
    """The SHA-256 of the code that measured an axis."""

    axis: str
    digest: str


@dataclass(frozen=True, slots=True)
class BaselineRemarks:
    """What limits the comparison with a baseline, and what `--force` compared all the same."""

    remarks: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Provenance:
    """What made the sheet, and of what."""

    judgesheet: str | None = None
    measured_with: Mapping[str, str] = field(default_factory=dict)
    collected_with: str | None = None
    plan_digest: str | None = None
    ledger_schema: int | None = None
    stimuli: tuple[StimulusPool, ...] = ()
    distinct_stimuli: DistinctStimuli | None = None
    scale: Scale | None = None
    prompts: tuple[PromptUsed, ...] = ()
    parsers: tuple[ParserUsed, ...] = ()
    parsers_replaced: tuple[ParserUsed, ...] = ()
    axis_code: tuple[AxisCode, ...] = ()
    papers: tuple[str, ...] = ()
    policy: PolicyName | None = None
    baseline: BaselineRemarks | None = None
