"""Questions about candidate sets: planned, asked in rounds, decided on the replies."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import factorial

from judgesheet.axes import get_axis, prompt
from judgesheet.axes.candidate_order import both_orders
from judgesheet.axes.listwise_consensus import list_calls
from judgesheet.axis import Options
from judgesheet.axis.copies import bare
from judgesheet.axis.prompt import built_in
from judgesheet.base import defaults
from judgesheet.base.records import Call, Plan, Reply, Stimulus, digest
from judgesheet.collect.collect import CollectSettings, Progress, collect
from judgesheet.collect.pacing import Pace
from judgesheet.judges import Judge
from judgesheet.ledger.ledger import Ledger
from judgesheet.permutation_consensus import keyed
from judgesheet.permutation_consensus.decision import Replies, SetDecision, verdict
from judgesheet.permutation_consensus.lists import Listed
from judgesheet.permutation_consensus.pairs import Paired
from judgesheet.permutation_consensus.sets import LISTWISE, PAIRWISE, as_pair
from judgesheet.planning.plan import generator
from judgesheet.planning.stimuli import pool_digest
from judgesheet.stats.orders import spread_orders

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
    k: int = defaults.CONSENSUS_ORDERS
    seed: int = 0
    early_stop: bool = False


def question(stimulus: Stimulus, settings: ConsensusSettings) -> Question:
    """A set with its calls.

    TemplateError if a prompt template cannot be used.
    """
    candidates = stimulus.fields.get("candidates", ())
    if len(candidates) > 2:
        # By the set's id: other sets in the file change no order of this one, and no call's id.
        rng, options = generator(settings.seed, stimulus.id), settings.options[LISTWISE]
        orders = spread_orders(len(candidates), settings.k, rng)
        calls = tuple(list_calls(stimulus, orders, options))
        return Listed(stimulus, calls, settings.early_stop)
    names = {"u": "u", "v": "v"}
    if candidates:
        stimulus = as_pair(stimulus)
        names = {side: own["id"] for side, own in zip("uv", candidates, strict=True)}
    options = settings.options[PAIRWISE]
    return Paired(stimulus, names, both_orders(stimulus, options), options)


def make_plan(
    sets: Sequence[Stimulus], asked: Sequence[Question], settings: ConsensusSettings
) -> Plan:
    """The calls that are certain from the start; keyed passes are added once replies demand them.

    Early stopping is no part of it: a run can be finished without.
    """
    some = next(iter(settings.options.values()))
    prompts = {
        axis: own.template or prompt(get_axis(axis)) for axis, own in settings.options.items()
    }
    prompts |= {name: built_in(name) for name in keyed.TEMPLATES}
    provenance = {
        "command": COMMAND,
        "settings": {"k": settings.k, "reply": some.reply, "temperature": some.temperature},
        "stimuli": [{"stimuli": len(sets), "digest": pool_digest(sets)}],
        "prompts": [{"name": name, "digest": digest(text)} for name, text in prompts.items()],
    }
    calls = tuple(call for question in asked for call in question.calls)
    return Plan(settings.seed, calls, (), provenance)


def unbalanced(sets: Sequence[Stimulus], k: int) -> Iterator[str]:
    """Warnings about lists whose places `k` orders cannot balance."""
    sizes = Counter(len(given.fields.get("candidates", ())) for given in sets)
    for n, count in sorted(sizes.items()):
        # All n! orders are balanced, whatever k is.
        if n > 2 and k % n and k < factorial(n):
            better = -(-k // n) * n
            yield (
                f"{k} orders of {n} candidates cannot be balanced ({count} sets): with -k {better} "
                "each would stand equally often at each place"
            )


def identical(given: Stimulus, names: Mapping[str, str] | None = None) -> str:
    """A warning about indistinguishable candidates of a set; "" if there are none.

    `names` are those of the sides u and v, where they have any.
    """
    own, sides = given.fields, names or {"u": "u", "v": "v"}
    texts = {one["id"]: one["text"] for one in own.get("candidates", ())}
    first: dict[str, str] = {}
    for name, text in (texts or {sides[side]: own[side] for side in "uv"}).items():
        if (twin := first.setdefault(bare(text), name)) != name:
            return f"{twin} and {name} are the same text, so a choice between them is random"
    return ""


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
    progress, before, budget = None, ledger.totals().attempts, settings
    pace = Pace(settings, judge.max_concurrency)

    def is_readable(call: Call, reply: Reply) -> bool:
        return verdict(call, reply) is not None

    async with judge:
        while progress is None or progress.stopped is None:
            replies = _replies(ledger)
            open_ = (call for question in asked for call in question.next(replies, tried))
            due = [call for call in open_ if call.id not in tried]
            if not due:
                break
            ledger.add(due)
            ids = {call.id for call in due}
            if (most := settings.max_calls) is not None:
                spent = ledger.totals().attempts - before
                # The budget is that of the session, not of a round.
                budget = replace(settings, max_calls=most - spent)
            progress = await collect(judge, ledger, budget, on_progress, is_readable, ids, pace)
            tried |= ids
    return progress


def decide(ledger: Ledger, asked: Sequence[Question]) -> list[SetDecision]:
    """The decisions on what a ledger holds, in the order of the sets."""
    replies = _replies(ledger)
    return [_noted(question.decide(replies), question) for question in asked]


def _noted(decision: SetDecision, question: Question) -> SetDecision:
    warning = identical(question.stimulus, question.names if isinstance(question, Paired) else None)
    return replace(decision, note="; ".join(filter(None, (decision.note, warning))))


def _replies(ledger: Ledger) -> Replies:
    return {reply.call_id: reply for reply in ledger.replies()}
