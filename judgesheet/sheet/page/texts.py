"""Sentences that are the same on every sheet."""

from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True, slots=True)
class Texts:
    """What explains the parts of the page; `{level}` is filled in."""

    lead: str = (
        "How far the grades of this LLM judge depend on things that should not matter: it was "
        "asked the same questions in different arrangements."
    )
    ratings: str = "The results say nothing about larger inputs."
    characteristics: str = (
        "Typ is the value measured, Min and Max are the ends of its {level} interval; for a "
        "figure with a limit, the one-sided bound that is compared with it replaces one end, "
        "marked ≤ or ≥. n "
        "counts the calls or items and, in brackets, the independent stimuli; “1 of 72” is the "
        "count behind a small rate. Noise: the same figure when a question is only repeated. "
        "Detects: for a figure whose interval contains “no effect”, the smallest effect that 80 "
        "of 100 such runs would find. ● effect: shown at {level}, beyond noise "
        "(a problem on page one takes stronger evidence); ≈ noise; "
        "○ none seen although a tenth of the scale would have shown; ? open: the run could not "
        "tell; ▲ ▼ at the end of the scale. Lost calls: how far the interval extends for "
        "whatever calls without a verdict could have said; marks and limits allow for it."
    )
    no_remedy: str = "No mitigation could be measured in this run."
    no_finding: str = "No finding could be computed from this run."
    no_advice: str = "No recommendation follows from this run."
    no_figure: str = "No chart was drawn."
    uncertainty: str = (
        "Intervals cover the choice of stimuli and the judge’s own noise; the unit of resampling "
        "is a stimulus with its near copies. They do not cover another prompt, another pool of "
        "stimuli or another version of the model. About five of 100 intervals miss their true "
        "value."
    )
    schema: str = "‹…› is filled in; ↕ changes place between calls."
    caveat: str = (
        "The figures hold for the prompts, stimuli, model version and settings under “Test "
        "conditions”."
    )
    estimates: str = (
        "Each entry says what the figure means and how it was computed, then lists its values: "
        "dimensions, value ({level} interval), n (independent stimuli), remarks. “Paper” is the "
        "same figure computed as in the literature; trust the value before it. What was not "
        "measured is listed at the end of each axis, by reason."
    )

    @classmethod
    def at(cls, level: str) -> Self:
        """The sentences of a sheet whose intervals have this confidence."""
        texts = cls()
        levelled = {name: getattr(texts, name).format(level=level) for name in _LEVELLED}
        return replace(texts, **levelled)


_LEVELLED = ("characteristics", "estimates")
