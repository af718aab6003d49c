"""The plots of presentation, as data, with what one sees in them."""

from judgesheet.axis.results import Plots, nothing
from judgesheet.axis.statements import MOSTLY, share, surely_above
from judgesheet.base.estimates import Estimates

from ._verdicts import KIND_WORDS
from .findings import preferences

drawn = Plots()


@drawn.plot(
    kind="intervals",
    title="The same content, dressed",
    caption="Share of comparisons that the dressed copy wins, ties as halves, with 95 % intervals. "
    "A judge of content stays on the dashed line.",
    families=("preference",),
    x="kind",
    x_label="share of comparisons won",
    reference=0.5,
    reference_label="no preference",
    having={"form": "", "dose": "", "prompt": ""},
    names=True,
    words=KIND_WORDS,
    ends=(0.0, 1.0),
    shows=("preference", "dress_excess"),
    brief="Share of comparisons that the dressed copy wins; 50 % is no preference.",
)
def _dress(estimates: Estimates) -> str:
    """The dress that surely wins, the strongest one."""
    sure = {kind: one for kind, one in preferences(estimates).items() if surely_above(one, MOSTLY)}
    if not sure:
        return ""
    kind = max(sure, key=lambda kind: sure[kind].value or 0.0)
    what = KIND_WORDS[kind]
    return f"{what[0].upper()}{what[1:]} wins {share(sure[kind])} of comparisons"


drawn.plot(
    kind="line",
    title="Dressed and worse against plain and better",
    caption="Share of comparisons that a dressed response wins although it lacks required points "
    "that the plain one has.",
    families=("worse_preferred",),
    x="missing",
    x_label="points missing",
    y_label="share won",
    series="kind",
    reference=0.5,
    reference_label="half of the comparisons",
    words=KIND_WORDS,
    ends=(0.0, 1.0),
)(nothing)


plots = drawn.of
