"""The tables and the chart of docs/validity.md, from the figures that are committed."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment

NUMBERS, JUDGES = "numbers.json", "judges.csv"
HERE = Path(__file__).parent
CHART = HERE.parent / "docs" / "validity.svg"
TITLES = {
    "natural": "natural questions",
    "people": "questions that people judged",
    "held out": "five further sets, looked at last",
    "adversarial": "adversarial questions",
}
"""The sets in reading order."""
FIGURES = {
    "order_inconsistent": "verdicts that change with the order",
    "slot_preference": "distance of slot 1's share of wins from a half",
    "lost": "lost calls",
}
DRAWN = ("order_inconsistent", "agreement")
COLOURS = {
    "natural": "#0b6e4f",
    "people": "#2b59c3",
    "held out": "#8a5a00",
    "adversarial": "#b3261e",
}


def numbers() -> dict[str, Any]:
    """The committed figures."""
    made: dict[str, Any] = json.loads((HERE / NUMBERS).read_text("utf-8"))
    return made


def in_short() -> str:
    """The main findings, with their numbers."""
    made = numbers()
    rho = {
        (one["questions"], one["outcome"]): one
        for one in made["correlations"]
        if one["figure"] == "order_inconsistent"
    }
    ordinary, deceiving = rho["natural", "agreement"], rho["adversarial", "agreement"]
    less = _points(made["rejected_less"]["natural"])
    sentences = (
        "**In short.** Of ordinary questions, how often a judge's verdict changes with the order",
        f"says how often it is right on others: ρ = {_rho(ordinary)} over",
        f"{ordinary['judges']} judges. Judges that the policy `natural-pairs` rejects are right",
        f"{less} less often. **Of questions made to deceive it says little**,",
        f"ρ = {_rho(deceiving)}: some judges agree with themselves and are wrong.",
        "Where both orders name the same winner, a sheet does not say whether it is the better,",
        f"ρ = {_rho(rho['natural', 'agreement_decided'])}.",
    )
    return "\n".join(["", *sentences, "", ""])


def prediction() -> str:
    """What of a sheet predicts agreement on other questions, by set."""
    head = ("questions", "judges", *FIGURES.values())
    found = {
        (one["questions"], one["figure"]): one
        for one in numbers()["correlations"]
        if one["outcome"] == "agreement"
    }
    rows = []
    for name, title in TITLES.items():
        known = [found.get((name, figure)) for figure in FIGURES]
        judges = next(one["judges"] for one in known if one)
        rows.append((title, str(judges), *map(_rho, known)))
    return _table(head, rows)


def _rho(one: dict[str, Any] | None) -> str:
    return f"{one['rho']:.2f} ({one['low']:.2f} to {one['high']:.2f})" if one else "—"


def decided() -> str:
    """The same for pairs on which both orders name the same winner."""
    rows = [
        (TITLES[one["questions"]], _rho(one))
        for name in TITLES
        for one in numbers()["correlations"]
        if (one["questions"], one["figure"], one["outcome"])
        == (name, "order_inconsistent", "agreement_decided")
    ]
    return _table(("questions", "where both orders agree"), rows)


def decisions() -> str:
    """How judges agree by what the policy says of them."""
    rows = []
    for name, title in TITLES.items():
        for one in numbers()["decisions"][name]:
            shares = (one["agreement"], one["decided"], one["agreement_decided"])
            rows.append((title, _word(one["decision"]), str(one["sheets"]), *map(_percent, shares)))
    head = ("questions", "decision", "sheets", "agreement", "both orders agree", "right where so")
    return _table(head, rows)


def _word(decision: str) -> str:
    return decision.replace("_", " ")


def gaps() -> str:
    """By how many points rejected judges agree less."""
    rows = [
        (title, _points(gap))
        for name, title in TITLES.items()
        if (gap := numbers()["rejected_less"][name]) is not None
    ]
    return _table(("questions", "rejected judges agree less by"), rows)


def _points(gap: dict[str, float]) -> str:
    low, high = (f"{100 * gap[end]:.0f}" for end in ("low", "high"))
    return f"{100 * gap['value']:.0f} points ({low} to {high})"


def both_orders() -> str:
    """What asking in both orders promised and brought, per model."""
    made = numbers()["both_orders"]
    rows = [
        (
            *(title, one["model"], _percent(one["decided"]), f"{100 * one['off']:.0f}"),
            *(_percent(one[right]) for right in ("agreement", "agreement_decided")),
        )
        for name, title in TITLES.items()
        for one in made
        if one["questions"] == name
    ]
    head = (
        *("questions", "judge", "decided", "points beside the sheet"),
        *("right: one call", "right: decided by both orders"),
    )
    return _table(head, rows)


def averages() -> str:
    """Pearson's r with people by the number of wordings averaged."""
    made = pd.DataFrame(numbers()["averages"]).pivot(index="judge", columns="calls", values="r")
    rows = [(str(judge), *(f"{r:.2f}" for r in one)) for judge, one in made.iterrows()]
    return _table(("judge", *(f"{calls} calls" for calls in made.columns)), rows)


def _percent(share: float) -> str:
    return "—" if math.isnan(share) else f"{100 * share:.0f} %"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---", *("--:" for _ in head[1:])), *rows]
    return "\n".join(["", *(f"| {' | '.join(cells)} |" for cells in lines), ""])


def chart() -> str:
    """Every judge: what changed with the order on one half, how it agreed on the other, as SVG."""
    means = pd.read_csv(HERE / JUDGES).groupby(["questions", "judge"])[[*DRAWN]].mean()
    points = [(name, *one) for (name, _), one in zip(means.index, means.to_numpy(), strict=True)]
    template = (HERE / "chart.svg.jinja").read_text("utf-8")
    return (
        Environment(autoescape=True)
        .from_string(template)
        .render(points=points, titles=TITLES, colours=COLOURS)
    )
