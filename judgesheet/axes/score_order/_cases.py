"""Which calls show what a figure of this axis counts."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from judgesheet.axes.score_order._design import MAIN_SCALE
from judgesheet.axes.score_order._reply import gives
from judgesheet.axis.views import (
    Question,
    View,
    changed,
    inline,
    no_reply,
    off_quality,
    places,
    repeated,
)
from judgesheet.base.records import Case


def _main(view: View) -> View:
    """The view of the balanced arm, at the scale of the headline figures if the key names none."""

    def find(question: Question) -> Iterable[Case]:
        scales = [call.cell["scale"] for call in question.calls]
        main = MAIN_SCALE if MAIN_SCALE in scales else max(scales, default=0)
        if "scale" in question.key.dims:
            return view.find(question)
        calls = [call for call in question.calls if call.cell["scale"] == main]
        return view.find(replace(question, calls=calls))

    return replace(view, find=find, where={"arm": "balanced"})


_PLACES = _main(View(places(gives, ("score",)), ("position", "score", "order", "among")))
_CHANGES = _main(changed)

CASES: Mapping[tuple[str, ...], View] = {
    ("position_share", "chi2", "chi2_p", "position_bias_p", "selection"): _PLACES,
    ("cramers_v", "cramers_v_debiased", "expected_position_mass"): _PLACES,
    ("unequal_stimuli", "any_stimulus_p", "largest_stimulus_effect"): _PLACES.only(),
    ("bias_cost", "min_bias_order", "min_bias_confidence"): _PLACES,
    ("order_dependence_p", "within_item_sd[arm=balanced]", "budget_agreement"): _CHANGES,
    ("expected_within_item_sd", "expected_order_effect"): _CHANGES,
    ("per_order_r", "default_order_rank", "expected_pearson_r"): off_quality,
    ("averaging_gain", "averaging_gain_order", "expected_single_read_r"): off_quality,
    ("averaging_gain_noise",): _main(repeated),
    ("within_item_sd[arm=fixed]",): repeated,
    ("expected_readable", "expected_mass"): inline,
    ("calls_for_same_width",): no_reply(
        "it compares the widths of two intervals; see expected_single_read_r and pearson_r"
    ),
    ("scores_used",): no_reply("it counts the scores that were given, in all readings"),
}
