"""Which calls show what a figure of this axis counts."""

from collections.abc import Mapping

from judgesheet.axes.score_order._design import MAIN_SCALE
from judgesheet.axes.score_order._reply import gives
from judgesheet.axis.views import (
    View,
    changed,
    inline,
    no_reply,
    off_quality,
    places,
    repeated,
)

_BALANCED = {"arm": "balanced", "scale": str(MAIN_SCALE)}
_PLACES = View(
    places(gives, things=("score",)), ("position", "score", "order", "among"), where=_BALANCED
)
_CHANGES = changed.only(**_BALANCED)

CASES: Mapping[tuple[str, ...], View] = {
    ("position_share", "chi2", "chi2_p", "position_bias_p", "selection"): _PLACES,
    ("cramers_v", "cramers_v_debiased", "expected_position_mass"): _PLACES,
    ("unequal_stimuli", "any_stimulus_p", "largest_stimulus_effect"): _PLACES,
    ("bias_cost", "min_bias_order", "min_bias_confidence"): _PLACES,
    ("order_dependence_p", "within_item_sd[arm=balanced]", "budget_agreement"): _CHANGES,
    ("expected_within_item_sd", "expected_order_effect"): _CHANGES,
    ("per_order_r", "default_order_rank", "expected_pearson_r"): off_quality,
    ("averaging_gain", "averaging_gain_order", "expected_single_read_r"): off_quality,
    ("averaging_gain_noise",): repeated.only(**_BALANCED),
    ("within_item_sd[arm=fixed]",): repeated,
    ("expected_readable", "expected_mass"): inline,
    ("calls_for_same_width",): no_reply(
        "it compares the widths of two intervals; see expected_single_read_r and pearson_r"
    ),
}
