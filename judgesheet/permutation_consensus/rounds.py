"""Questions about candidate sets: planned, asked in rounds, decided on the replies."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import factorial

from judgesheet.axes import get_axis, prompt
from judgesheet.axes.candidate_order import keyed
from judgesheet.axis import Options
from judgesheet.axis.prompt import built_in
from judgesheet.judges import Judge
from judgesheet.permutation_consensus.decision import Replies, SetDecision, reading
from judgesheet.permutation_consensus.lists import Listed
from judgesheet.permutation_consensus.pairs import Paired
from judgesheet.permutation_consensus.sets import LISTWISE, PAIRWISE, as_pair
from judgesheet.records import Call, Plan, Stimulus, digest
from judgesheet.spine.collect import CollectSettings, Progress, collect
from judgesheet.spine.ledger import Ledger
from judgesheet.spine.plan import generator
from judgesheet.spine.stimuli import pool_digest

COMMAND = "consensus"


Question = Listed | Paired
"""A set that is being decided."""


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


def question(stimulus: Stimulus, settings: ConsensusSettings) -> Question:
    """A set with its calls.

    Raises
    ------
    TemplateError
        if a prompt template cannot be used.
    """
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
            {"name": name, "digest": digest(source)} for name, source in _prompts(settings.options)
        ],
    }
    calls = tuple(call for question in asked for call in question.calls)
    return Plan(settings.seed, calls, (), provenance)


def _prompts(options: Mapping[str, Options]) -> Iterator[tuple[str, str]]:
    for axis, chosen in options.items():
        yield axis, chosen.template or prompt(get_axis(axis))
    for name in keyed.TEMPLATES:
        yield name, built_in(name)


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

    Each round asks what the replies of the earlier ones leave open. A call that was given up is not
    tried again before the next session.
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
            left = _left(settings, ledger.totals().attempts - before)
            progress = await collect(judge, ledger, left, on_progress, _is_readable, ids)
            tried |= ids
    return progress


def decide(ledger: Ledger, asked: Sequence[Question]) -> list[SetDecision]:
    """The decisions on what a ledger holds, in the order of the sets."""
    replies = _replies(ledger)
    return [one.decide(replies) for one in asked]


def _replies(ledger: Ledger) -> Replies:
    return {reply.call_id: reply for reply in ledger.replies()}


def _left(settings: CollectSettings, spent: int) -> CollectSettings:
    """The settings for a further round, once `spent` requests of this session were made."""
    if settings.max_calls is None:
        return settings
    return replace(settings, max_calls=settings.max_calls - spent)


def _is_readable(call: Call, text: str) -> bool:
    return reading(call, text) is not None
