"""Decide a user's own candidate sets so that their order does not: the mitigations as a stage.

Lists of three and more go through permutation consensus (`_lists`), sets of two through both orders
and a keyed pass (`_pairs`; paper 004). Every question is a call of a ledger. Which calls come next
follows from the replies alone, so an interrupted run goes on where it was, and asks nothing twice.

This stage knows two axes by name: unlike the others it does not measure whatever axes there are, it
applies these two prompts.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import Protocol

from judgesheet.axes import get_axis, prompt
from judgesheet.axes.candidate_order import keyed
from judgesheet.axis import Options
from judgesheet.axis.prompt import built_in
from judgesheet.judges import Judge
from judgesheet.permutation_consensus._decision import Replies, SetDecision
from judgesheet.permutation_consensus._input import LISTWISE, PAIRWISE, Sets, as_pair, read_sets
from judgesheet.permutation_consensus._lists import Listed
from judgesheet.permutation_consensus._pairs import REASONS, Paired
from judgesheet.permutation_consensus._summary import Summary, accuracy, summarise
from judgesheet.records import Call, Plan, Stimulus, digest
from judgesheet.spine.collect import CollectSettings, Progress, collect
from judgesheet.spine.ledger import Ledger
from judgesheet.spine.parsing import read
from judgesheet.spine.plan import generator
from judgesheet.spine.stimuli import pool_digest

COMMAND = "consensus"
AXES = (LISTWISE, PAIRWISE)
"""The axes whose prompts and parsers are used."""


class Question(Protocol):
    """A set that is being decided: a list or a pair."""

    @property
    def calls(self) -> Sequence[Call]:
        """The calls that are certain from the start."""

    def next(self, replies: Replies, tried: Collection[str]) -> list[Call]:
        """The calls to make now, given the replies so far; `tried` were made in this session."""

    def decide(self, replies: Replies) -> SetDecision:
        """The decision on these replies."""


@dataclass(frozen=True, slots=True)
class ConsensusSettings:
    """How sets are decided.

    `k` orders of a list, drawn by `seed` where they cannot be balanced; `early_stop` leaves out
    calls that cannot change the winner. `options` holds one set per axis name.
    """

    options: Mapping[str, Options]
    k: int = 7
    seed: int = 0
    early_stop: bool = False


def questions(sets: Sequence[Stimulus], settings: ConsensusSettings) -> list[Question]:
    """The sets with their calls.

    Raises
    ------
    TemplateError
        if a prompt template cannot be used.
    """
    return [_question(stimulus, settings) for stimulus in sets]


def _question(stimulus: Stimulus, settings: ConsensusSettings) -> Question:
    pairwise = settings.options[PAIRWISE]
    if stimulus.pool == PAIRWISE:
        return Paired.plan(stimulus, ("u", "v"), pairwise)
    candidates = stimulus.fields["candidates"]
    if len(candidates) == 2:
        first, second = (one["id"] for one in candidates)
        return Paired.plan(as_pair(stimulus), (first, second), pairwise)
    rng = generator(settings.seed, stimulus.id)
    options = settings.options[LISTWISE]
    return Listed.plan(stimulus, settings.k, options, rng, early_stop=settings.early_stop)


def make_plan(
    sets: Sequence[Stimulus], asked: Sequence[Question], settings: ConsensusSettings
) -> Plan:
    """The calls that are certain from the start; keyed passes are added once replies demand them.

    Early stopping is no part of it: a run can be finished without.
    """
    some = next(iter(settings.options.values()))
    provenance = {
        "command": COMMAND,
        "settings": {"k": settings.k, "reply": some.reply, "temperature": some.temperature},
        "stimuli": [{"stimuli": len(sets), "digest": pool_digest(sets)}],
        "prompts": [
            *(
                {"name": name, "digest": digest(_template(name, o))}
                for name, o in settings.options.items()
            ),
            *({"name": name, "digest": digest(built_in(name))} for name in keyed.TEMPLATES),
        ],
    }
    calls = tuple(call for question in asked for call in question.calls)
    return Plan(settings.seed, calls, (), provenance)


def _template(axis: str, options: Options) -> str:
    return options.template or prompt(get_axis(axis))


def unbalanced(sets: Sequence[Stimulus], k: int) -> Iterator[str]:
    """What to say about lists whose places `k` orders cannot balance."""
    sizes = Counter(len(one.fields.get("candidates", ())) for one in sets)
    for n, count in sorted(sizes.items()):
        if n > 2 and k % n and k < factorial(n):
            better = -(-k // n) * n
            yield (
                f"{k} orders of {n} candidates cannot be balanced ({count} sets): with -k {better} "
                "each would stand equally often at each place"
            )


async def ask(
    judge: Judge,
    ledger: Ledger,
    asked: Sequence[Question],
    settings: CollectSettings,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Progress | None:
    """Ask in rounds until no set needs another call or the budget is spent; None if none was due.

    Each round asks what the replies of the earlier ones leave open. A
    call that was given up is not tried again before the next session.
    """
    tried: set[str] = set()
    progress, before = None, ledger.totals().attempts
    async with judge:
        while progress is None or progress.stopped is None:
            replies = _replies(ledger)
            due = [call for one in asked for call in one.next(replies, tried)]
            due = [call for call in due if call.id not in tried]
            if not due:
                break
            ledger.add(due)
            ids = {call.id for call in due}
            left = _left(settings, progress, before)
            progress = await collect(judge, ledger, left, on_progress, _is_readable, ids)
            tried |= ids
    return progress


def decide(ledger: Ledger, asked: Sequence[Question]) -> list[SetDecision]:
    """The decisions on what a ledger holds, in the order of the sets."""
    replies = _replies(ledger)
    return [one.decide(replies) for one in asked]


def _replies(ledger: Ledger) -> Replies:
    return {reply.call_id: reply for reply in ledger.replies()}


def _left(settings: CollectSettings, progress: Progress | None, before: int) -> CollectSettings:
    """The settings with the requests of this session that are left for further rounds."""
    if settings.max_calls is None or progress is None:
        return settings
    return replace(settings, max_calls=settings.max_calls - (progress.attempts - before))


def _is_readable(call: Call, text: str) -> bool:
    if call.cell.get("keyed") == keyed.SOLVE:
        return bool(text.strip())
    return read(get_axis(call.axis), text, call.reply, call.cell) is not None


__all__ = [
    "AXES",
    "COMMAND",
    "REASONS",
    "ConsensusSettings",
    "Question",
    "SetDecision",
    "Sets",
    "Summary",
    "accuracy",
    "ask",
    "decide",
    "make_plan",
    "questions",
    "read_sets",
    "summarise",
    "unbalanced",
]
