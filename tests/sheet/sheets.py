"""Datasheets to render: a plausible one, a hostile one and one where nothing could be read.

The plausible figures are written down or follow from short formulas, so that golden files do not
move with a library.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import product
from typing import Any, Literal

from judgesheet.base.datasheet import SCHEMA_VERSION, from_json
from judgesheet.base.effects import Effect
from judgesheet.base.facts import (
    Failure,
    JudgeIdentity,
    ParserUsed,
    PromptUsed,
    Provenance,
    RunFacts,
    StimulusPool,
)
from judgesheet.base.records import (
    AxisResult,
    Characteristic,
    Control,
    Datasheet,
    Estimate,
    Mitigation,
    PaperCompatible,
)
from judgesheet.decide import decide
from judgesheet.decide.policy import Limit, Policy

AXIS = "score_order"
QUESTION = "Does a score depend on the order in which the rubric lists its descriptions?"
CONDITIONS = "5-point rubric, 10 balanced orders, 1 pass(es)"
N, CLUSTERS = 946, 24
SAYS = {
    "shown": "Another order changes {value} of them ({interval}).",
    "negligible": "Another order changes at most {bound} of them.",
    "inconclusive": "Whether the order changes them is open: {value} ({interval}).",
}


def estimate(
    name: str,
    label: str,
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    unit: str = "share",
    **more: Any,
) -> Estimate:
    """An estimate of the plausible sheet, with the usual sizes."""
    settings: dict[str, Any] = {"n": N, "clusters": CLUSTERS, "conditions": CONDITIONS, **more}
    return Estimate(f"{AXIS}.{name}", label, value, low, high, unit=unit, **settings)


def _shares() -> Iterator[Estimate]:
    for position, share in enumerate((0.4154, 0.1818, 0.1247, 0.1173, 0.1607), 1):
        yield estimate(
            f"position_share[position={position}]",
            f"Share of choices at position {position}",
            share,
            share - 0.031 - position / 1000,
            share + 0.034,
            method="mean of stimuli, cluster-robust t",
            paper_compatible=PaperCompatible(
                share, share - 0.028, share + 0.029, "Wilson over calls"
            ),
        )


def _preference() -> Iterator[Estimate]:
    inverted = "noncentral chi-square inverted, design effect of the stimuli"
    yield estimate(
        "cramers_v",
        "Cramér's V of the chosen position",
        0.2713,
        0.2291,
        0.3134,
        "V",
        method=inverted,
        paper_compatible=PaperCompatible(0.2713, None, None, "sqrt(chi2 / (N (n-1)))"),
    )
    yield estimate(
        "cramers_v_debiased",
        "Cramér's V without the share of chance",
        0.2668,
        0.2291,
        0.3134,
        "V",
        given={"debiases": f"{AXIS}.cramers_v"},
        method="V squared less its expectation without bias",
    )
    for scale, value in ((2, 0.4312), (3, 0.3391), (5, 0.2713)):
        yield estimate(
            f"cramers_v[scale={scale}]",
            f"Cramér's V of the chosen position, {scale}-point rubric",
            value,
            value - 0.052,
            value + 0.049,
            "V",
            method=inverted,
            conditions=f"{scale}-point rubric, {2 * scale} balanced orders",
        )
    yield estimate(
        "cramers_v[scale=9]",
        "Cramér's V of the chosen position, 9-point rubric",
        None,
        unit="V",
        n=0,
        clusters=0,
        note="the profile quick leaves this scale out",
    )
    yield estimate(
        "chi2",
        "Chi-square of positions against uniform",
        278.52,
        None,
        None,
        "chi-square",
        given={"df": 4},
        method="Pearson, calls taken as independent",
    )
    yield estimate(
        "chi2_p",
        "p of chi-square, the papers' way",
        4.4e-59,
        None,
        None,
        "p",
        note="paper-compatible only",
    )
    yield estimate(
        "order_dependence_p",
        "p: the order matters nowhere, by all stimuli together",
        0.00002,
        None,
        None,
        "p",
        method="orders exchanged within items",
    )


def _orders() -> Iterator[Estimate]:
    for score, position in product(range(1, 6), range(1, 6)):
        raw = [0.1 + 0.28 / p + 0.02 * ((score * p) % 4) for p in range(1, 6)]
        share = raw[position - 1] / sum(raw)
        yield estimate(
            f"selection[score={score},position={position}]",
            f"Score {score} chosen at position {position}",
            round(share, 4),
            round(share - 0.05, 4),
            round(share + 0.06, 4),
            n=120 + 31 * score,
        )
    orders = (
        "12345",
        "23451",
        "34512",
        "45123",
        "51234",
        "54321",
        "43215",
        "32154",
        "21543",
        "15432",
    )
    for i, order in enumerate(orders):
        cost = 31.2 + (i * 37 % 29)
        yield estimate(
            f"bias_cost[order={order}]",
            f"Bias cost of the order {order}",
            cost,
            cost - 8.4,
            cost + 9.1,
            "percentage points",
        )
    yield estimate(
        "min_bias_order",
        "Order with the smallest bias cost",
        12345.0,
        None,
        None,
        "order",
        note="smallest in 31 % of resamples: no order is measurably better",
    )
    yield estimate(
        "within_item_sd[arm=balanced]",
        "Spread of one response's scores, balanced",
        0.9127,
        0.8411,
        0.9844,
        "points",
    )


def _budgets() -> Iterator[Estimate]:
    for arm, top in (("balanced", 0.412), ("random", 0.388)):
        for k in range(1, 11):
            r = top * (k / (k + 1.9)) * 1.19
            spread = 0.16 * (10 - k) / 10
            yield estimate(
                f"budget_r[k={k},arm={arm}]",
                f"r with quality, {k} {arm} orders",
                round(r, 4),
                round(r - spread, 4),
                round(r + spread, 4),
                "r",
                n=96,
                method=f"all choices of {k} of 10 orders",
            )


def _flips() -> Iterator[Estimate]:
    prompts: dict[str, Any] = {"n": CLUSTERS, "method": "mean over prompts, t interval"}
    yield estimate(
        "order_flip_rate",
        "Best response flips between two orders",
        0.5104,
        0.4437,
        0.5771,
        **prompts,
    )
    yield estimate(
        "repeat_flip_rate",
        "Best response flips within one order",
        0.3021,
        0.2266,
        0.3776,
        **prompts,
    )
    yield estimate(
        "excess_flip_rate", "Flips that the order causes", 0.2083, 0.1391, 0.2776, **prompts
    )
    yield estimate(
        "top1_flip_rate",
        "Best response differs, balanced against fixed",
        0.3958,
        0.2814,
        0.5102,
        paper_compatible=PaperCompatible(0.4167, 0.2447, 0.6117, "first index wins ties"),
        **prompts,
    )
    yield estimate(
        "kendall_tau",
        "Agreement of rankings, balanced against fixed",
        0.3402,
        0.2019,
        0.4785,
        "tau",
        **prompts,
    )


HEADLINE = (
    "position_share[position=1]",
    "cramers_v",
    "cramers_v_debiased",
    "order_dependence_p",
    "order_flip_rate",
    "repeat_flip_rate",
    "excess_flip_rate",
    "top1_flip_rate",
    "kendall_tau",
    "within_item_sd[arm=balanced]",
    "cramers_v[scale=9]",
)

HELD_AGAINST: dict[str, tuple[Any, ...]] = {
    "cramers_v": ("V", 0.0, ""),
    "order_flip_rate": ("F", None, f"{AXIS}.repeat_flip_rate"),
    "excess_flip_rate": ("ΔF", 0.0, ""),
    "kendall_tau": ("τ", 1.0, ""),
}
"""Symbol, value of no effect, and noise of some of them."""

TEMPLATE = """You are grading one response to a request. Judge it on a single criterion.

## Request
{{ prompt }}

## Response to grade
{{ response }}

## Criterion: {{ criterion }}
The possible scores and what each one means:
{% for option in options %}
Score {{ option.score }}: {{ option.description }}
{%- endfor %}

Answer with a JSON object and nothing else: {"score": N}.
"""

EXAMPLE = """You are grading one response to a request. Judge it on a single criterion.

## Request
Explain to a new colleague why the cache must be warm before the benchmark starts.

## Response to grade
A cold cache measures the disk, not the program. Run it once before you take the time.

## Criterion: helpfulness
The possible scores and what each one means:

Score 3: Answers the question but leaves out a step that the reader needs.
Score 4: Answers the question completely.
Score 5: Answers completely and says what to do when it fails.
Score 1: Does not answer the question.
Score 2: Names the subject but does not help.

Answer with a JSON object and nothing else: {"score": N}.
"""


def plausible() -> Datasheet:
    """A quick probe of a small local model that follows the place of a line."""
    key = f"{AXIS}.{{}}".format
    sheet = Datasheet(
        schema_version=SCHEMA_VERSION,
        judge=JudgeIdentity(
            model="local/smollm2-135m",
            provider="local",
            name="SmolLM2-135M-Instruct",
            base_url="http://127.0.0.1:41213/v1",
            served_models={"SmolLM2-135M-Instruct-Q4_K_M.gguf": 960},
            details={
                "weights_sha256": "5c2d1f6f0ac1d8f6c0ae1c1f9a7a4c7c2a4e6f1d3b5a79880f0e1d2c3b4a5968"
            },
        ),
        run=RunFacts(
            profile="quick",
            axes=(AXIS,),
            seed=20260101,
            reply="json",
            temperature=0.0,
            planned=960,
            settled=960,
            answered=N,
            attempts=962,
            outcomes={"ok": 960, "timeout": 2},
            tokens_in=341_220,
            tokens_out=6_720,
            cost_usd=0.0,
            started_at="2026-11-20T13:58:04+00:00",
            ended_at="2026-11-20T14:03:09+00:00",
            wall_s=305.4,
            latency_p50_s=0.29,
            latency_p99_s=1.41,
            complete=True,
        ),
        provenance=Provenance(
            judgesheet="0.1.0",
            measured_with={
                "python": "3.11.2",
                "numpy": "2.4.6",
                "scipy": "1.17.1",
                "pandas": "2.3.3",
            },
            plan_digest="9d1c4be0c1f2a3b4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c",
            prompts=(
                PromptUsed(
                    axis=AXIS,
                    name="score_order.jinja",
                    digest="0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
                    template=TEMPLATE,
                    permuted=("options",),
                    example=({"role": "user", "content": EXAMPLE},),
                ),
            ),
            stimuli=(
                StimulusPool(
                    axis=AXIS,
                    name="built-in",
                    stimuli=24,
                    digest="a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90",
                ),
            ),
        ),
        axes=(
            AxisResult(
                name=AXIS,
                title="Order of the rubric's scores",
                question=QUESTION,
                planned=960,
                answered=N,
                unreadable=12,
                refused=0,
                failed=2,
                estimates=(*_shares(), *_preference(), *_orders(), *_budgets(), *_flips()),
                caveats=(
                    "At temperature 0 repeats show only what the endpoint itself varies (batching, "
                    "prefix caching).",
                    "Quality is the level that the author wrote a response for, not a human "
                    "rating.",
                ),
                characteristics=tuple(
                    Characteristic(key(name), *HELD_AGAINST.get(name, ())) for name in HEADLINE
                ),
                declared=(
                    Effect(key("excess_flip_rate"), 0.0, 0.1, "up", SAYS, ("ranking",)),
                    Effect(key("cramers_v"), 0.0, 0.15, "up", SAYS),
                ),
            ),
        ),
    )
    return decide(sheet)


def all_unreadable() -> Datasheet:
    """A judge whose every reply is nonsense, stopped half-way."""
    nothing = "no readable reply in the balanced arm"
    keys = ("chi2", "cramers_v", "order_dependence_p", "excess_flip_rate")
    sheet = Datasheet(
        schema_version=SCHEMA_VERSION,
        judge=JudgeIdentity("openai/babble-1", served_models={"babble-1-0613": 40, "babble-1": 8}),
        run=RunFacts(
            profile="smoke", reply="text", complete=False, ended_at="2026-11-20T14:03:09+00:00"
        ),
        provenance=Provenance(),
        axes=(
            AxisResult(
                name=AXIS,
                title="Order of the rubric's scores",
                question=QUESTION,
                planned=100,
                answered=0,
                unreadable=41,
                refused=5,
                failed=2,
                estimates=tuple(
                    Estimate(
                        f"{AXIS}.{name}", name.replace("_", " ").capitalize(), None, note=nothing
                    )
                    for name in keys
                ),
                caveats=("Every call failed to give a score.",),
                characteristics=tuple(Characteristic(f"{AXIS}.{name}") for name in keys),
            ),
        ),
    )
    return decide(sheet)


def several(number: int, estimates: int = 0) -> Datasheet:
    """The plausible sheet with its axis repeated under other names, and grown to so many estimates.

    The copies carry other figures, so that none of them is left out as a repetition.
    """
    sheet = plausible()
    names = [AXIS, "criterion_order", "candidate_order", "listwise_consensus"][:number]
    axes = tuple(_renamed(sheet.axes[0], name, estimates) for name in names)
    used = sheet.provenance
    provenance = replace(
        used,
        prompts=tuple(replace(one, axis=name) for name in names for one in used.prompts),
        stimuli=tuple(replace(one, axis=name) for name in names for one in used.stimuli),
    )
    return decide(replace(sheet, axes=axes, provenance=provenance))


def _renamed(axis: AxisResult, name: str, estimates: int) -> AxisResult:
    whole = replace(plausible(), axes=(replace(axis, name=name),), recommendations=())
    text = json.dumps(asdict(whole)).replace(f"{AXIS}.", f"{name}.")
    copy = from_json(text).axes[0]
    grown = (
        replace(copy.estimates[i % 5], key=f"{name}.grown[step={i // 9},slot={i % 9}]")
        for i in range(max(estimates - len(copy.estimates), 0))
    )
    title = f"{axis.title} ({name.replace('_', ' ')})"
    return replace(copy, name=name, title=title, estimates=(*copy.estimates, *grown))


Outcome = Literal["adopt", "conditions", "reject", "inconclusive"]
LIMITS: tuple[tuple[str, Literal["max", "min"], float], ...] = (
    ("cramers_v", "max", 0.15),
    ("excess_flip_rate", "max", 0.25),
    ("order_flip_rate", "max", 0.6),
    ("kendall_tau", "min", 0.3),
    ("within_item_sd[arm=balanced]", "max", 1.2),
)
"""Limits of which one is broken, two are not proven and two are proven."""
LENIENT: dict[Outcome, dict[str, float]] = {
    "reject": {},
    "inconclusive": {"cramers_v": 0.4},
    "conditions": {"cramers_v": 0.4, "excess_flip_rate": 0.3, "kendall_tau": 0.2},
}
LENIENT["adopt"] = LENIENT["conditions"]
"""Limits that take the place of those above for each decision."""


def judged(verdict: Outcome = "reject", sheet: Datasheet | None = None) -> Datasheet:
    """A sheet under a policy that decides so."""
    sheet = sheet or plausible()
    axis = sheet.axes[0]
    axis = replace(
        axis,
        mitigations=(
            Mitigation("average the 10 balanced orders", f"{axis.name}.order_flip_rate",
                       f"{axis.name}.repeat_flip_rate", 10),
        ),
        controls=(Control("scores follow quality", True, "Scores must rise with quality."),),
    )  # fmt: skip
    given = replace(sheet, axes=(axis, *sheet.axes[1:]))
    limits = [
        Limit.model_validate(
            {"key": f"{axis.name}.{name}", kind: LENIENT[verdict].get(name, value)}
        )
        for name, kind, value in LIMITS
    ]
    return decide(given, Policy(name="leaderboard", limit=limits))


CANARY = "http://127.0.0.1:9/canary"
"""Replaced by the address of a listening server where a test wants to know."""
ATTACKS = (
    "<script>alert(1)</script>",
    '<img src="{url}" onerror="alert(1)">',
    '</style><style>@import url("{url}");</style>',
    "<svg><image href='{url}'/></svg>",
    "\"><iframe src='file:///etc/passwd'></iframe>",
    "{{{{ 7 * 7 }}}} {{% include '/etc/passwd' %}}",
    "a\u202egpj.exe\u2066 \u200bz",
    "NUL\x00 bell\x07 escape\x1b[31m",
    "lone \ud800 surrogate",
    "cell | pipe\nline\r\n`tick` **bold** [link]({url})",
    '=HYPERLINK("{url}")',
    "@SUM(A1)",
    "+1+cmd",
    "-2+3",
    "\t=1+1",
    "]]> --> <!-- &amp; &lt;",
    "$x^2$ \\input{{secret}} $",
    '#read("/etc/passwd") #panic("x") #import "@preview/cetz:0.4.0": * // *b* <c> @d \\u{{23}}',
)


def hostile(url: str = CANARY) -> Datasheet:
    """Attacks in every place where a judge, its owner or a stimulus can put words."""
    attacks = [attack.format(url=url) for attack in ATTACKS]
    everything = " ".join(attacks)
    word = "W" * 1_000_000
    things = (
        Estimate(
            f"{AXIS}.thing[position={i},what={attack}]",
            attack,
            0.1 * (i % 9),
            0.0,
            1.0,
            unit=attack,
            n=5,
            clusters=2,
            method=attack,
            conditions=attack,
            note=attack,
            paper_compatible=PaperCompatible(0.1, 0.0, 0.2, attack),
        )
        for i, attack in enumerate(attacks, 1)
    )
    estimates = (
        *things,
        Estimate(f"{AXIS}.long", word, -0.25, -0.5, float("nan"), note=word),
        Estimate(f"{AXIS}.gone[what={attacks[0]}]", "gone", None, note=everything),
        Estimate(f"{AXIS}.huge[what={attacks[0]}]", "a number that fits no column", 1e300),
    )
    items = {attack: attack for attack in attacks}
    sheet = Datasheet(
        schema_version=SCHEMA_VERSION,
        judge=JudgeIdentity(everything, served_models={everything: 3, word: 4}, details=items),
        run=RunFacts(
            profile=everything,
            reply=word,
            ended_at=everything,
            complete=False,
            machine=word,
            outcomes=dict.fromkeys(attacks, 1),
            refused_parameters=items,
            failures=(Failure(everything, word, 1),),
        ),
        provenance=Provenance(
            prompts=(
                PromptUsed(
                    axis=everything,
                    name=word,
                    digest=everything,
                    template=everything + word,
                    example=({"role": everything, "content": everything + word},),
                    params=items,
                ),
            ),
            stimuli=tuple(StimulusPool(attack, name=attack) for attack in attacks),
            measured_with=items,
            papers=tuple(attacks),
            parsers=(ParserUsed(everything, word, everything, everything + word),),
        ),
        axes=(
            AxisResult(
                name=attacks[0],
                title=everything,
                question=everything,
                planned=9,
                answered=5,
                unreadable=2,
                refused=1,
                failed=1,
                estimates=estimates,
                caveats=(everything, word),
                characteristics=tuple(Characteristic(e.key) for e in estimates),
                declared=(
                    Effect(estimates[0].key, 0.0, 0.1, "up", dict.fromkeys(SAYS, everything)),
                ),
            ),
        ),
    )
    return decide(sheet)
