"""Which calls show what a figure of this axis counts."""

from collections.abc import Iterator, Sequence

from judgesheet.axes.listwise_consensus._reply import Verdict, chosen
from judgesheet.axis.views import Asked, Question, View, differing, places
from judgesheet.base.keys import Key
from judgesheet.base.records import Case


def _wins(verdict: Verdict, order: Sequence[str]) -> list[float]:
    winner = chosen(verdict, order)
    return [float(name == winner) for name in order]


def winner_and_scores(verdict: Verdict, order: Sequence[str]) -> list[object]:
    """Another winner counts more than all scores together."""
    scores = {name: rated["score"] / 1000 for name, rated in verdict.items()}
    return [chosen(verdict, order), scores]


def _wrong(question: Question) -> Iterator[Case]:
    """Calls that do not choose the right answer, by how far it lies behind the best."""
    for call in question.read():
        gold, winner = call.cell.get("gold"), chosen(call.value, call.order)
        if gold in call.value and winner != gold and _is_meant(call, question.key):
            behind = max(one["score"] for one in call.value.values()) - call.value[gold]["score"]
            place = list(call.order).index(gold) + 1
            why = f"{call.stimulus}: chooses {winner or 'none'}; right is {gold}, at place {place}"
            yield Case((call.id,), f"{why}, {behind:g} points behind", float(behind) + 1)


def tied(question: Question) -> Iterator[Case]:
    """Calls in which several answers share the best score, the most answers first."""
    for call in question.read():
        scores = [one["score"] for one in call.value.values()]
        if (best := scores.count(max(scores))) > 1:
            why = f"{call.stimulus}: {best} answers share the best score, {max(scores):g}"
            yield Case((call.id,), why, float(best))


def _is_meant(call: Asked, key: Key) -> bool:
    """Whether the right answer and the winner stand where a key says, if it says so."""
    winner = chosen(call.value, call.order)
    stand = {"gold": call.cell["gold"], "position": winner}
    return all(
        winner is not None and str(call.order.index(stand[name]) + 1) == key.dims[name]
        for name in stand.keys() & key.dims.keys()
    )


RIGHT = View(_wrong, ("gold", "position"))
PLACES = View(places(_wins), ("position",), where={"arm": "permuted"})
ANOTHER = 0.999
"""Another winner counts 1: calls that differ in scores alone are no cases of a flip."""
OTHER_WINNER = View(differing("other", winner_and_scores, least=ANOTHER))
