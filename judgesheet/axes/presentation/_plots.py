"""The plots of presentation."""

from judgesheet.axes.presentation._verdicts import KIND_WORDS
from judgesheet.axis.results import Plots, nothing

drawn = Plots()


drawn.plot(
    kind="intervals",
    title="The same content, presented differently",
    caption="Share of comparisons that the altered copy wins, with 95 % intervals; ties count "
    "half. If only content counts, it stays on the dashed line.",
    families=("preference",),
    x="kind",
    x_label="share of comparisons won",
    reference=0.5,
    reference_label="no preference",
    having={"dose": ""},
    names=True,
    words=KIND_WORDS,
    ends=(0.0, 1.0),
    shows=("preference", "dress_excess"),
    brief="Share of comparisons that the altered copy wins; 50 % is no preference.",
)(nothing)


plots = drawn.of
