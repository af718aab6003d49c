"""The cells of listwise_consensus: which list is shown in which order, how often."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judgesheet.axes.listwise_consensus._material import MOST_CANDIDATES, golds
from judgesheet.axes.listwise_consensus._reply import LABELS, schema
from judgesheet.axis import Options
from judgesheet.axis.arms import Read, item_fault
from judgesheet.axis.material import spread
from judgesheet.axis.prompt import boundary, parameters, renderer
from judgesheet.base.errors import TemplateError
from judgesheet.base.records import Call, Stimulus
from judgesheet.stats import orders
from judgesheet.stats.orders import Order

if TYPE_CHECKING:
    import numpy as np

DIRECT, REPEATED, PERMUTED = ARMS = ("direct", "repeated", "permuted")
PAPER_K = 7
"""Runs of the paper's consensus and of its repeated arm (004, section 4.3)."""
MOST_REVERSED = 8
"""Longer lists are shown in their n forward rotations only, to keep the number of calls in n."""


@dataclass(frozen=True, slots=True)
class ListSettings:
    """How much of the design a profile runs.

    `stimuli` prompts (None: all) are each read under the balanced orders (`forward`: only under the
    n forward rotations), the canonical order `repeated` times in all. `again` of the other orders
    (None: all), rotating over the prompts, are read `repeats` times. The canonical reading, which
    the arms share, is requested once, in the direct arm. `listed` is the most candidates that are
    shown (None: all), the right answer among them.
    """

    stimuli: int | None
    forward: bool
    repeated: int
    again: int | None
    repeats: int = 2
    listed: int | None = None


# 14 lists without any fault prove 19.3 %; the policy `order-only` asks for 25 %.
PROFILES: Mapping[str, ListSettings] = {
    "first": ListSettings(stimuli=6, forward=True, repeated=1, again=0, listed=2),
    "smoke": ListSettings(stimuli=3, forward=True, repeated=2, again=0),
    "quick": ListSettings(stimuli=14, forward=True, repeated=4, again=1),
    "standard": ListSettings(stimuli=None, forward=False, repeated=PAPER_K, again=2),
    "full": ListSettings(stimuli=None, forward=False, repeated=PAPER_K, again=None, repeats=3),
}


def sequences(n: int, kind: str = "cyclic", *, forward: bool = False) -> tuple[Order, ...]:
    """The orders of the permuted arm, the canonical one first.

    Cyclic: n forward, then n reverse rotations, so that the first n, and all 2n, show every
    candidate equally often at every place, and the paper's K = 3, 5, 7 are the first orders.
    """
    if kind == "williams":
        first, *rest = orders.williams(n)
        canonical = {candidate: place + 1 for place, candidate in enumerate(first)}
        return tuple(tuple(canonical[c] for c in order) for order in (first, *rest))
    balanced = orders.balanced(n)
    return balanced[:n] if forward or n > MOST_REVERSED else balanced


def depths(n: int, total: int) -> list[int]:
    """The K at which an arm of `total` runs is evaluated: the paper's, and the balanced ones."""
    return sorted({k for k in (3, 5, PAPER_K, n, 2 * n, total) if 2 <= k <= total})


def canonical_ids(stimulus: Stimulus, index: int, most: int | None = None) -> list[str]:
    """The candidates in canonical order: the file's, rotated so that the gold's place is `index`.

    Of more than `most`, the gold and those that follow it.

    Because of this rotation the gold stands at each place equally often; many files list the right
    answer first, and the direct arm would then measure that place.
    """
    ids = [candidate["id"] for candidate in stimulus.fields["candidates"]]
    gold = golds(stimulus.fields)
    start = ids.index(gold[0]) if gold else index % len(ids)
    kept = (ids[start:] + ids[:start])[:most]
    shift = -index % len(kept)
    return kept[shift:] + kept[:shift]


def design(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
) -> Iterator[Call]:
    """Every call, prompt by prompt; within a prompt the arms are interleaved at random."""
    render = _renderer(options)
    settings = PROFILES[options.profile]
    if options.repeats is not None:
        settings = replace(settings, repeats=options.repeats)
    for index, stimulus in enumerate(spread(stimuli, settings.stimuli)):
        ids = canonical_ids(stimulus, index, settings.listed)
        cells = list(_cells(index, len(ids), settings, options))
        for pick in rng.permutation(len(cells)):
            yield _call(stimulus, ids, cells[pick], options, render)


def lists(stimulus: Stimulus, shown: Sequence[Sequence[int]], options: Options) -> Iterator[Call]:
    """One call per order of a prompt's candidates, the first as the direct one.

    Orders count the candidates from 1, as the file lists them.
    """
    render = _renderer(options)
    ids = [candidate["id"] for candidate in stimulus.fields["candidates"]]
    for number, order in enumerate(shown):
        cell = Read(PERMUTED if number else DIRECT, tuple(order), 0)
        yield _call(stimulus, ids, cell, options, render)


def arm(cell: Mapping[str, Any]) -> str:
    """The arm of a cell."""
    return str(cell["arm"])


def _renderer(options: Options) -> Callable[..., str]:
    """As `renderer`; TemplateError also if a candidate's text could imitate an end or another."""
    render = renderer("listwise_consensus", options, ("prompt",), {"candidates.text": "candidate"})

    def marked_off(**variables: Any) -> str:
        text = render(**variables)
        if text.count(variables["boundary"]) < variables["n"]:
            what = "the prompt of listwise_consensus"
            raise TemplateError(f"{what} does not mark each candidate with the boundary")
        return text

    return marked_off


def _cells(index: int, n: int, settings: ListSettings, options: Options) -> Iterator[Read]:
    canonical, *others = sequences(n, options.sequences, forward=settings.forward)
    yield Read(DIRECT, canonical, 0)
    for repeat in range(1, settings.repeated):
        yield Read(REPEATED, canonical, repeat)
    again = len(others) if settings.again is None else settings.again
    for place, order in enumerate(others):
        # The repeated orders move on from prompt to prompt, so that all are repeated equally often.
        often = (place - index * again) % len(others) < again
        for repeat in range(settings.repeats if often else 1):
            yield Read(PERMUTED, order, repeat)


def _shown(
    prompt: str, reference: str | None, texts: Sequence[str], options: Options
) -> dict[str, object]:
    """The variables of the template."""
    return {
        "prompt": prompt,
        "reference": reference,
        "candidates": [
            {"label": label, "text": text} for label, text in zip(LABELS, texts, strict=False)
        ],
        "n": len(texts),
        "boundary": boundary([prompt, reference or ""], texts),
        "reply": options.reply,
    }


def _call(
    stimulus: Stimulus,
    ids: Sequence[str],
    cell: Read,
    options: Options,
    render: Callable[..., str],
) -> Call:
    fields = stimulus.fields
    texts = {candidate["id"]: candidate["text"] for candidate in fields["candidates"]}
    shown = [ids[place - 1] for place in cell.order]
    gold = [name for name in golds(fields) if name in shown]
    listed, n = [texts[name] for name in shown], len(shown)
    prompt = render(**_shown(fields["prompt"], fields.get("reference"), listed, options))
    right = {"gold": gold[0] if gold else None, **({"golds": gold} if len(gold) > 1 else {})}
    return Call(
        axis="listwise_consensus",
        stimulus=stimulus.id,
        cell={"item": stimulus.id, "arm": cell.arm, "order": shown, **right},
        repeat=cell.repeat,
        messages=({"role": "user", "content": prompt},),
        # An entry takes about 65 tokens; in text mode the judge may reason before it.
        params=parameters(
            options, {"text": 512 + 160 * n, "json": 32 + 120 * n}, "candidates", schema(n)
        ),
        reply=options.reply,
    )


# -- recorded cells --------------------------------------------------------------------------------


def fault(cell: Mapping[str, Any]) -> str | None:
    """What keeps a recorded cell from being one of ours, as a sentence; None if nothing does."""
    if wrong := item_fault(cell, "the prompt", ARMS):
        return wrong
    order = cell.get("order")
    shown = order if isinstance(order, list) and all(isinstance(one, str) for one in order) else []
    if not 2 <= len(shown) <= MOST_CANDIDATES or len(set(shown)) != len(shown):
        return f"cell.order must list 2 to {MOST_CANDIDATES} candidate ids, each once, as displayed"
    gold = cell.get("golds") or ([] if cell.get("gold") is None else [cell["gold"]])
    if not isinstance(gold, list) or not all(one in shown for one in gold):
        return "cell.gold must be one of the candidate ids in cell.order, or null"
    return None
