"""The records that stages pass to each other: frozen and slotted.

Raw facts (`Stimulus`, `Call`, `Reply`) are apart from analysis (`Estimate`, `AxisResult`,
`Datasheet`): a better parser or estimator needs no new call.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

from judgesheet.base.effects import Effect, JudgedEffect, Use
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts

END_OF_TIME = 253_370_764_800.0
"""When the year 9999 begins, in seconds since the epoch; no clock shows more."""

Outcome = Literal[
    "ok",  # the judge answered; whether the text can be read is decided in `measure`
    "unreadable",  # it answered without a verdict, and is asked again: --retry-unreadable
    "refused",  # the endpoint says so itself (refusal field, content filter), never guessed
    "timeout",
    "empty",  # an answer without words, and no reason why
    "unavailable",  # 5xx, 408, 409, 529, an error inside a 200, or a broken connection
    "unreachable",  # no connection until the user changes something: a certificate or a proxy
    "rate_limited",  # 429
    "too_long",  # the prompt does not fit the judge's context
    "unpaid",  # 402, or an account without credit
    "rejected",  # any other 4xx
    "unsupported",  # one that names a parameter, which is not sent (under that name) any more
    "unauthorized",  # 401, 403
    "not_found",  # 404: unknown model or wrong address
    "malformed",  # 2xx that is no chat completion (an HTML page, say)
]
SETTLING: frozenset[Outcome] = frozenset({"ok", "refused", "too_long"})
"""Outcomes that concern the call itself: it is never asked again, not even on resume."""
RETRYABLE: frozenset[Outcome] = frozenset(
    {"timeout", "unavailable", "rate_limited", "malformed", "empty", "unsupported"}
)
"""Outcomes that pass: the call is asked again at once."""
HOPELESS: frozenset[Outcome] = frozenset(
    {"unauthorized", "not_found", "unpaid", "rejected", "unreachable"}
)
"""Outcomes that only the user can change: the call waits until they have, and so does the run."""
UNBILLED: frozenset[Outcome] = HOPELESS | {"rate_limited", "unsupported"}
"""Outcomes of requests that an endpoint turns away, and asks no money for."""
NOT_CONNECTED = "not connected"
"""The reason of a request that never left this machine."""
ANOTHERS = "the answer to a different question"
"""The reason of an answer that carries the id of another request: whoever sent it mixes them up."""
NEVER_ASKED = frozenset({NOT_CONNECTED, "batch_expired", "batch_cancelled", "expired", "canceled"})
"""Reasons of requests that no model was given: that one, and those of batches that ended before."""
RECORDED = "recorded"
"""The provider of a judge whose verdicts were taken elsewhere."""
BATCH = "batch"
"""The provider of a judge that was asked in batches alone; its model is `PROVIDER/NAME`."""

ReplyFormat = Literal["text", "json", "recorded"]
"""How the judge is asked to answer; a protocol of its own, never mixed in one sheet.
`recorded` marks verdicts that were taken elsewhere and ingested."""

LEVEL = 0.95
"""Confidence of every interval of a run that is looked at once."""

SMALL_RATE = 0.05
"""Rates below it are printed with their count."""

BUILT_IN = "built-in"
"""How a run names the stimuli and prompts that come with the package."""

LOGPROBS: Mapping[str, Any] = {"logprobs": True, "top_logprobs": 20}
"""How a call asks for log-probabilities: the parameters of OpenAI's chat completions, which other
servers took over; 20 alternatives is the most that all of them give."""


def canonical_json(value: Any) -> str:
    """One text per value: sorted keys, no spaces, UTF-8 kept. Digests are taken of this."""
    return _CANONICAL.encode(value)


# Made once: `json.dumps` would make one for every call.
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(text: str) -> str:
    """SHA-256 of the UTF-8 text, in hexadecimal."""
    # Prompts and replies may hold halves of surrogate pairs, which have no UTF-8.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Stimulus:
    """The unit of resampling: one question with everything that belongs to it.

    `fields` is the validated content (see `planning.stimuli`), `source` is `file:line`.
    """

    id: str
    pool: str
    fields: Mapping[str, Any]
    source: str


@dataclass(frozen=True, slots=True)
class Call:
    """One question to the judge.

    `cell` names the experimental condition; `params` are the request's parameters (`temperature`,
    `max_tokens`, `response_format`, …), `reply` the format that the prompt asks for. `id` is a hash
    of all the rest, so the same content is the same call.
    """

    axis: str
    stimulus: str
    cell: Mapping[str, Any]
    repeat: int
    messages: tuple[Mapping[str, str], ...]
    params: Mapping[str, Any]
    reply: ReplyFormat = "text"
    id: str = field(init=False, default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", self.content_id())

    @classmethod
    def known(cls, **values: Any) -> Self:
        """A call with a precomputed id: hashing millions again takes minutes."""
        call = object.__new__(cls)
        for name in cls.__slots__:
            object.__setattr__(call, name, values[name])
        return call

    def content_id(self) -> str:
        """What `id` is, computed anew: of a call that was stored, it tells whether it is whole."""
        content = [self.axis, self.stimulus, self.cell, self.repeat, self.messages, self.params]
        # 96 bits: among millions of calls no two have the same by chance.
        return digest(canonical_json([*content, self.reply]))[:24]


@dataclass(frozen=True, slots=True)
class Label:
    """What is known about an item and never shown to the judge.

    `kind` is `human` (a mean over raters), `model` (the same, given by another model) or `intended`
    (the level an author wrote for, 0..1). `ratings` are the single ratings behind a mean, one place
    per rater, None where that rater gave none; empty where only the mean is known.
    """

    axis: str
    item: str
    kind: Literal["human", "model", "intended"]
    score: float
    criterion: str = ""
    ratings: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Every call of a run, in sending order, with the labels that measuring will need."""

    seed: int
    calls: tuple[Call, ...] = field(repr=False)
    labels: tuple[Label, ...] = field(repr=False)
    provenance: Mapping[str, Any] = field(repr=False)
    """`prompts`, `stimuli` and `parsers` digests, settings per axis; see `planning.plan`."""

    @property
    def digest(self) -> str:
        """SHA-256 over the call ids: two plans with the same digest ask the same questions.

        Whether unreadable replies are asked again decides which replies count, and is part of it.
        """
        asked = [call.id for call in self.calls]
        if again := self.provenance.get("settings", {}).get("retry_unreadable"):
            asked.append(f"retry_unreadable={again}")
        return digest("\n".join(asked))


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of one attempt at one call, verbatim.

    `text` is the judge's words ("" when there are none), `raw` the body as received, `at` seconds
    since the epoch when the reply was complete, `retry_after_s` what the server asked for,
    `finish_reason` why the judge stopped, in the endpoint's word, `HTTP 500` where it failed so,
    `NOT_CONNECTED` where nothing was sent. Token counts and the reason are None where the endpoint
    does not say.
    """

    call_id: str
    attempt: int
    outcome: Outcome
    text: str
    raw: str
    latency_s: float
    tokens_in: int | None
    tokens_out: int | None
    served_model: str | None
    at: float
    retry_after_s: float | None = None
    finish_reason: str | None = None

    @property
    def is_unmetered(self) -> bool:
        """Whether it may have cost an unknown amount: it timed out, or broke off."""
        is_counted = self.tokens_in is not None or self.tokens_out is not None
        is_free = self.outcome in UNBILLED or self.finish_reason in NEVER_ASKED
        return not is_counted and not is_free


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call and what came of it, as a reader is shown it.

    `outcome` and `text` are those of the last attempt, "" for a call that was not made. `verdict`
    is what was read, None for nothing; `reason` says why (a code of `reading.reasons`).
    """

    call: Call
    outcome: str
    text: str
    verdict: Any
    reason: str

    @property
    def is_lost(self) -> bool:
        """Whether it was made and gave no verdict."""
        return self.outcome != "" and self.verdict is None

    @property
    def ended(self) -> str:
        """An `Outcome`, `unreadable` for an answer without a verdict, or `not asked`."""
        if self.outcome == "ok" and self.verdict is None:
            return "unreadable"
        return self.outcome or "not asked"


@dataclass(frozen=True, slots=True)
class PaperCompatible:
    """The same figure computed the paper's way, for readers who compare with the literature."""

    value: float | None
    low: float | None
    high: float | None
    method: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a gate compares with a limit: two one-sided bounds, each of confidence `level`.

    The true value is above `low` with that confidence, and below `high` with that confidence, but
    not both at once. `method` says how they were computed. If the interval behind them does not
    reflect sampling error, they prove nothing and `proves` is False.
    `seen` are the same without room for stimuli that were not drawn; None where they are no mean.
    A limit is not proven with them, but a judge that the change leaves alone on every stimulus
    keeps to them.
    """

    low: float
    high: float
    level: float = LEVEL
    method: str = ""
    proves: bool = True
    seen: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Imputed:
    """How far calls that gave no verdict could move a figure, had they given one.

    `calls` of the axis were lost. `low` and `high` are the least lower and the greatest upper end
    of the two-sided interval (of a figure without one: the least and the greatest value) over the
    answers that move it furthest, the calls that were read alone included; None where some answers
    would leave the figure without a value. `least` and `most` are the extremes of the value itself,
    which no number of stimuli brings nearer as long as the same share is lost; None on sheets that
    were made without them.
    """

    calls: int
    low: float | None
    high: float | None
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its evidence.

    `key` is `axis.name` or `axis.name[dim=value,…]`, where `name` is the function that computed
    it. `value` None means not measured or not estimable, and `note` says why. `low` and `high`
    bound the interval of confidence `level`; None where none is defined. `n` counts calls or
    items that entered, `clusters` the independent stimuli they came from. `bounds` are the
    one-sided bounds that gates read; None where there is no interval, and on sheets that were made
    without them. Where lost calls enter the figure, `imputed` says how far they could move its
    interval, and `bounds` already allow for it; `value`, `low` and `high` are always those of the
    calls read.
    A share that is a number out of `n` has that number as its `count`; where the design lets a
    figure reach less than the end of its scale, `ceiling` is the most that it can be.

    `label`, `method`, `conditions` and `note` are words for readers and decide nothing. Programs
    read `reason` instead (the code of a `missing_reasons.Reason`, where a value or an interval is
    missing) and `given` (the facts behind `conditions`, and in `debiases` the key of the figure
    that it is without the part that chance adds).
    """

    key: str
    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    level: float = LEVEL
    unit: str = ""
    n: int = 0
    clusters: int = 0
    method: str = ""
    conditions: str = ""
    note: str = ""
    paper_compatible: PaperCompatible | None = None
    bounds: Bounds | None = None
    reason: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    imputed: Imputed | None = None
    count: int | None = None
    ceiling: float | None = None

    @property
    def least(self) -> float | None:
        """The lower end, whatever the lost calls would have given; None without one."""
        return self.low if self.low is None or self.imputed is None else self.imputed.low

    @property
    def most(self) -> float | None:
        """The upper end, whatever the lost calls would have given; None without one."""
        return self.high if self.high is None or self.imputed is None else self.imputed.high

    def is_above(self, limit: float) -> bool:
        """Whether the whole interval, lost calls counted, lies above a limit."""
        return self.least is not None and self.least > limit

    def is_below(self, limit: float) -> bool:
        """Whether the whole interval, lost calls counted, lies below a limit."""
        return self.most is not None and self.most < limit

    @property
    def counted(self) -> str:
        """`1 of 72` of a rate so small that its count says more; else ""."""
        small = self.value is not None and self.value < SMALL_RATE
        return f"{self.count:,} of {self.n:,}" if self.count and small else ""

    @property
    def greatest(self) -> float | None:
        """The value of a figure without interval, or the greatest that lost calls could make it."""
        return self.value if self.value is None or self.imputed is None else self.imputed.high

    def __post_init__(self) -> None:
        if self.value is None and not self.note:
            raise ValueError(f"{self.key}: an estimate without a value must say why in its note")


@dataclass(frozen=True, slots=True)
class Characteristic:
    """A row of the characteristics table: an estimate, and what to compare it with.

    `symbol` is a short sign such as `V` or `r_bal`. `null` is the value that would mean "no effect"
    (None where no value does), `noise` the key of the estimate that shows the same quantity when
    nothing but repetition changes. `better` says which way a user wants it: `nearer` is nearer to
    `null`, and empty means neither.
    """

    key: str
    symbol: str = ""
    null: float | None = None
    noise: str = ""
    better: Literal["lower", "higher", "nearer", ""] = ""


@dataclass(frozen=True, slots=True)
class Mitigation:
    """What a user can do against a bias: the figure before and after, and its price.

    `code` is what `Effect.remedy` calls it. `before` and `after` are keys of estimates of the same
    quantity, `calls` the calls that one judgment then takes (before: one). `gain` is the key of the
    estimate of how much better it becomes (above 0 is better), "" where no figure has the
    difference with an interval. `outcome` says whether it helps.
    """

    action: str
    before: str
    after: str
    calls: int
    gain: str = ""
    outcome: Literal["helps", "harms", "gains nothing", "not shown", "void", ""] = ""
    code: str = ""

    @property
    def helps(self) -> bool:
        """Whether it may be advised: it was not shown to harm, nor to gain nothing."""
        return self.outcome in ("helps", "not shown")


@dataclass(frozen=True, slots=True)
class Control:
    """A question with a known answer, on which other figures depend.

    `passed` None means that the data cannot tell. `evidence` are keys of estimates. Controls of
    several axes with the same `code` ask the same. `touches` are the names of the figures that must
    not be used where it fails, `*` for all of the axis. `of` says whose failure it is: where it is
    the `run`'s, nothing can be said by those figures; where it is the `judge`'s, a figure that
    looks well is no merit, and one that is bad still is. `mend` says what would make it pass.
    """

    name: str
    passed: bool | None
    text: str
    evidence: tuple[str, ...] = ()
    code: str = ""
    touches: tuple[str, ...] = ("*",)
    of: Literal["run", "judge"] = "judge"
    mend: str = ""


@dataclass(frozen=True, slots=True)
class MeasuredAxis:
    """What was measured on one axis: the calls, their outcomes, and the estimates.

    `planned` = `answered` + `unreadable` + `refused` + `failed` + calls not made yet.
    `characteristics` are the rows of the characteristics table in reading order. `served_models`
    counts the answers of the axis by the model that the endpoint named, `mixed_stimuli` the stimuli
    on which several of them answered. `declared` are the effects that the axis looks for.
    """

    name: str
    title: str
    question: str
    planned: int
    answered: int
    unreadable: int
    refused: int
    failed: int
    estimates: tuple[Estimate, ...]
    caveats: tuple[str, ...]
    characteristics: tuple[Characteristic, ...] = ()
    mitigations: tuple[Mitigation, ...] = ()
    controls: tuple[Control, ...] = ()
    served_models: Mapping[str, int] = field(default_factory=dict)
    mixed_stimuli: int = 0
    declared: tuple[Effect, ...] = ()

    @property
    def made(self) -> int:
        """The calls that were settled, one way or another."""
        return self.answered + self.unreadable + self.refused + self.failed


@dataclass(frozen=True, slots=True)
class AxisResult(MeasuredAxis):
    """One axis of the datasheet: what was measured on it, and what is decided from that.

    `effects` is what the data say of each declared one, worst first, `invalid` why no figure of the
    axis may be used (None: they may be), `voided` why single ones may not, by key, and `unearned`
    why the value of a figure that was not shown to be bad is no merit.
    """

    effects: tuple[JudgedEffect, ...] = ()
    invalid: str | None = None
    voided: Mapping[str, str] = field(default_factory=dict)
    unearned: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, measured: MeasuredAxis) -> "AxisResult":
        """The axis of which nothing is decided yet."""
        return cls(**{part.name: getattr(measured, part.name) for part in fields(MeasuredAxis)})

    def silent_reason(self, key: str) -> str:
        """Why the figure with this key says nothing, good or bad: the run's fault; else ""."""
        return self.invalid or self.voided.get(key, "")

    def void_reason(self, key: str) -> str:
        """Why the figure with this key must not be used; "" where it may be.

        Whatever shows a figure to a reader asks this, and nothing else.
        """
        return self.silent_reason(key) or self.unearned.get(key, "")


VerdictStatus = Literal["pass", "fail", "inconclusive", "invalid"]
STATUS_WORDS: Mapping[VerdictStatus, str] = {
    "pass": "kept",
    "fail": "broken",
    "inconclusive": "not proven",
    "invalid": "not usable",
}
"""How the status of a limit is printed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule applied to one estimate.

    `status` is `pass`, `fail`, `inconclusive` (neither is proven), or `invalid` where the figure
    must not be used. `rule` is the limit in words (`at most 10 %`), `limit` and `kind` the same for
    a program; `bound` is the one-sided bound that decided, `needed` what would decide if nothing is
    proven, `more_stimuli` how many that takes, where it is stimuli. `warns` is True where a limit
    that is not proven does not fail the gate. Where it is `against_baseline`, `observed` is how
    much worse than a baseline the figure became. `remark` says what else is in the figure, however
    its limit came out.
    """

    rule: str
    key: str
    observed: float | None
    status: VerdictStatus
    why: str
    limit: float | None = None
    kind: Literal["max", "min", ""] = ""
    bound: float | None = None
    needed: str = ""
    more_stimuli: int | None = None
    warns: bool = False
    against_baseline: bool = False
    remark: str = ""

    @property
    def looks_broken(self) -> bool:
        """Whether the value itself lies beyond the limit, proven or not."""
        if self.observed is None or self.limit is None:
            return False
        return self.observed > self.limit if self.kind == "max" else self.observed < self.limit

    @property
    def excused(self) -> bool:
        """Whether it need not be proven: too few data are excused, a failed control is not."""
        return self.warns and self.status == "inconclusive"


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold for a judge to be adopted, with the keys of the figures behind it.

    `text` is what was shown against the judge or is not known of it, "" where a remedy is all.
    `remedy` is what to do about it, `calls` what one judgment then takes, `left` what is left.
    """

    text: str
    keys: tuple[str, ...] = ()
    remedy: str = ""
    calls: int | None = None
    left: str = ""

    @property
    def in_one_line(self) -> str:
        """All of it in one line."""
        calls = "" if self.calls is None else f" ({self.calls:,} calls per judgment)"
        do = f"{self.remedy}{calls}" if self.remedy else ""
        return "; ".join(filter(None, (self.text.removesuffix("."), do, self.left)))


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of a policy about the judge as a whole.

    `adopt`: every limit that must be kept is, and nothing was shown against the judge for this use.
    `conditions`: the same, and each of `conditions` must hold. `reject`: a limit is broken.
    `policy_digest` is the SHA-256 of the policy's text, `use` what it is for ("" for any).
    `limiting` is the key that decides ("" where none stands out) and `because` how its limit came
    out. `text` is the decision in one sentence. `required` and `warning` count the limits that must
    be kept and those that only warn, by status; `not_settled` says which of the latter are open.
    `what_would_decide` has the cheapest first, or what would help a judge that is rejected.
    """

    verdict: Literal["adopt", "conditions", "reject", "not_proven"]
    policy: str
    limiting: str
    text: str
    conditions: tuple[Condition, ...] = ()
    not_settled: tuple[str, ...] = ()
    required: Mapping[VerdictStatus, int] = field(default_factory=dict)
    warning: Mapping[VerdictStatus, int] = field(default_factory=dict)
    what_would_decide: tuple[str, ...] = ()
    because: VerdictStatus | Literal[""] = ""
    policy_digest: str = ""
    use: Use | Literal[""] = ""

    @property
    def policy_and_digest(self) -> str:
        """The policy with the beginning of its digest: files of one name may hold other limits."""
        name, known = self.policy[:60], self.policy_digest[:12]
        return f"{name} (SHA-256 {known}…)" if name and known else name

    @property
    def needed_role(self) -> str:
        """What it is to a reader: nothing more decides about a judge that was rejected."""
        return "What would help" if self.verdict == "reject" else "What would decide"

    @property
    def needed_sentences(self) -> tuple[str, ...]:
        """What would decide or help, each as a sentence."""
        return tuple(f"{self.needed_role}: {needed}." for needed in self.what_would_decide)

    @property
    def conditions_and_keys(self) -> tuple[str, ...]:
        """The conditions with the keys behind them, for readers who look figures up."""
        return tuple(
            f"{one.in_one_line} ({', '.join(one.keys)})" if one.keys else one.in_one_line
            for one in self.conditions
        )


@dataclass(frozen=True, slots=True)
class MeasuredSheet:
    """What was measured of a judge, of which nothing is decided yet."""

    schema_version: str
    judge: JudgeIdentity
    run: RunFacts = field(repr=False)
    provenance: Provenance = field(repr=False)
    axes: Sequence[MeasuredAxis] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Datasheet(MeasuredSheet):
    """The product; `datasheet.json` is this record (schema in `docs/datasheet.schema.json`).

    `recommendations` are the remedies that were measured against what is shown, for any use.
    """

    axes: tuple[AxisResult, ...] = field(repr=False)
    recommendations: tuple[Condition, ...] = ()
    verdicts: tuple[Verdict, ...] = field(default=(), repr=False)
    decision: Decision | None = None

    @classmethod
    def of(cls, measured: MeasuredSheet) -> "Datasheet":
        """The sheet of which nothing is decided yet; one that was decided, as it is."""
        if isinstance(measured, cls):
            return measured
        known = measured.judge, measured.run, measured.provenance
        return cls(measured.schema_version, *known, tuple(map(AxisResult.of, measured.axes)))
