"""Which calls show what a figure of this axis counts."""

from collections.abc import Iterator, Mapping, Sequence

from judgesheet.axes.listwise_consensus._reply import Verdict, chosen
from judgesheet.axis.views import Asked, Question, View, differing, no_reply, places
from judgesheet.base.keys import Key
from judgesheet.base.records import Case


def _wins(verdict: Verdict, order: Sequence[str]) -> list[float]:
    winner = chosen(verdict, order)
    return [float(name == winner) for name in order]


def _winner_and_scores(verdict: Verdict, order: Sequence[str]) -> list[object]:
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


def _tied(question: Question) -> Iterator[Case]:
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


_RIGHT = View(_wrong, ("gold", "position"))
_PLACES = View(places(_wins), ("position",), where={"arm": "permuted"})
# Another winner counts 1: calls that differ in scores alone are no cases of a flip.
_OTHER = View(differing("other", _winner_and_scores, least=0.999))

CASES: Mapping[tuple[str, ...], View] = {
    ("accuracy", "gain", "gain_over_repeated", "improved", "regressed", "sign_test_p"): _RIGHT,
    ("error_correlation", "winner_place", "weight_sensitivity"): _RIGHT,
    ("calls_per_point_gained",): _RIGHT,
    ("win_share", "position_bias_p"): _PLACES,
    ("unequal_stimuli", "any_stimulus_p", "largest_stimulus_effect"): _PLACES.only(),
    ("top_tie_rate",): View(_tied, where={"arm": "permuted"}),
    ("repeat_flip_rate",): View(differing("same", _winner_and_scores, least=0.999)),
    ("order_flip_rate", "excess_flip_rate", "order_dependence_p"): _OTHER,
    ("order_agreement", "agreeing_orders", "subset_agreement", "change_rate"): _OTHER,
    ("unchanged",): no_reply("it counts prompts on which nothing changes; see change_rate"),
    ("chance_accuracy",): no_reply("a pick at random needs no judge"),
    ("calls_per_decision",): no_reply("it is the number of calls that a decision takes"),
    ("independent_error_bound",): no_reply("it is computed from accuracy; see its cases"),
}
