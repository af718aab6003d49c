"""The plots of candidate_order, as data."""

from collections.abc import Iterator, Mapping

from judgesheet.records import Estimate, Figure


def figures(found: Mapping[str, Estimate]) -> Iterator[Figure]:  # noqa: ARG001
    """The plots; the renderer leaves out those without a figure."""
    yield Figure(
        kind="line",
        title="How small a difference does it see?",
        caption="Share of calls that choose the better response, by the number of required "
        "elements that it states more; a tie counts as a miss. The dashed line is 75 %.",
        families=("target_sensitivity",),
        x="delta",
        series="slot",
        x_label="steps between the responses",
        y_label="better response chosen",
        reference=0.75,
    )
