"""Which calls show what a figure of this axis counts."""

from collections.abc import Mapping

from judgesheet.axes.criterion_order._reply import gives
from judgesheet.axis.views import View, changed, no_reply, places, repeated

_PLACES = View(
    places(gives, things=("criterion",)), ("position", "criterion"), where={"arm": "balanced"}
)
_OF_NOISE = no_reply("it is what replies without an order effect would give, by shuffling scores")

CASES: Mapping[tuple[str, ...], View] = {
    ("mean_delta_pos_null", "max_delta_pos_null", "delta_pos_null"): _OF_NOISE,
    ("delta_pos_null95",): _OF_NOISE,
    ("mean_delta_pos", "max_delta_pos", "delta_pos", "position_shift", "position_mean"): _PLACES,
    ("significant_criteria", "friedman_p", "friedman_p_holm"): _PLACES,
    ("unequal_stimuli", "any_stimulus_p", "largest_stimulus_effect"): _PLACES.only(),
    ("within_item_sd[arm=fixed]",): repeated,
    ("within_item_sd", "budget_agreement"): changed,
    ("scores_used",): no_reply("it counts the scores that were given, in all readings"),
}
