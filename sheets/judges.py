"""The judges, what is wrong with each, and which decision about it is right.

Decisions are declared here from what is planted, and not from what a sheet says: the fault of a
judge forbids `adopt`, a fault of the measurement allows nothing but `not proven`.
"""

import json
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.recorded_logs import pairs
from judgesheet.base.resources import data_folder
from sheets.served import (
    Endpoint,
    random_from_70_percent,
    refused_in_one_order,
    renamed_at_half,
)

Decisions = frozenset[str]
ADOPT, CONDITIONS, REJECT = (frozenset({one}) for one in ("adopt", "conditions", "reject"))
NOT_PROVEN: Decisions = frozenset({"not_proven"})
USABLE = ADOPT | CONDITIONS
NOT_ADOPTED = CONDITIONS | REJECT | NOT_PROVEN
NOT_USABLE = REJECT | NOT_PROVEN
COMPLETE, INCOMPLETE = 0, 5
"""Exit codes of the run itself."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge to make a sheet of.

    `words` are the arguments of `judgesheet` that make its run, without policy and folder; in them
    `{files}` is the folder that `prepare` writes into, `{url}` the address of the `endpoint` that
    answers. `right` are the decisions of `policy` that are right, `why` says why. A decision short
    of `reject` must name a figure that shows the fault, whose key begins with `fault`. `ends` is
    the exit code that the run must have.
    """

    name: str
    policy: str
    right: Decisions
    why: str
    words: tuple[str, ...]
    prepare: Callable[[Path], None] = lambda _: None
    endpoint: Endpoint | None = None
    fault: str = ""
    ends: int = COMPLETE


def simulated(
    name: str, model: str, policy: str, right: Decisions, why: str, *words: str, **more: Any
) -> Judge:
    """A simulated judge, asked by the profile quick unless `words` say otherwise."""
    return Judge(name, policy, right, why, ("probe", "--model", f"sim/{model}", *words), **more)


def served(name: str, endpoint: Endpoint, policy: str, right: Decisions, why: str) -> Judge:
    """A near-perfect judge behind a real endpoint, which does what its script says."""
    return Judge(name, policy, right, why, endpoint.words, endpoint=endpoint)


# -- files that judges need ------------------------------------------------------------------------


def own_pairs(folder: Path) -> None:
    """Pairs as a user has them: two responses to each built-in request that has several."""
    with (folder / "pairs.jsonl").open("w", encoding="utf-8") as file:
        for axis in ("score_order", "criterion_order"):
            for line in (data_folder("stimuli") / f"{axis}.jsonl").open(encoding="utf-8"):
                fields = json.loads(line)
                u, v = (candidate["text"] for candidate in fields["candidates"][:2])
                pair = {"id": fields["id"], "request": fields["prompt"], "u": u, "v": v}
                file.write(json.dumps(pair) + "\n")


def wrong_parser(folder: Path) -> None:
    """A parser that waits for a form of reply which the judge does not use."""
    parser = "[verdict]\nregex = '\"{criterion}\": *(\\d+)'\n"
    (folder / "parser.toml").write_text(parser, encoding="utf-8")


# -- the judges ------------------------------------------------------------------------------------

SOUND = (
    simulated(
        "near-perfect", "good", "ranking", USABLE,
        "one call of fifty is answered by chance, nothing else is wrong",
    ),
    simulated(
        "refuses-5-percent", "good?refused=0.05", "ci-regression", USABLE,
        "a pair in ten lacks a call: counted against the limit they stay below its 25 %",
    ),
    simulated(
        "refuses-5-percent-strict", "good?refused=0.05", "ranking", NOT_PROVEN,
        "a pair in ten lacks a call: counted against the limit they reach its 10 %, and no call "
        "that was answered breaks it",
    ),
    simulated(
        "scores-3-to-5", "perfect?scored=0.5:1", "scoring", USABLE,
        "order moves nothing and scores follow quality; that two of five levels are never used "
        "must be told, and breaks no limit",
    ),
)  # fmt: skip

FAULTY = (
    simulated(
        "biased-on-10-percent", "perfect?prone=0.1&seed=6&first=8&slot=20&shift=2:-2"
        "&sensitivity=100", "ranking", NOT_USABLE,
        "on one task in ten the slot decides all equal pairs: the true share lies on the limit",
    ),
    simulated(
        "follows-length", "longer", "ranking", NOT_ADOPTED,
        "what is longer wins, whatever it says: better responses are no longer than others",
    ),
    simulated(
        "halo", "perfect?halo=1", "scoring", NOT_ADOPTED,
        "four of five criteria are scored as the first: they say nothing of their own",
        fault="criterion_order.pearson_r",
    ),
    simulated(
        "one-criterion-unrelated", "perfect?heeds=0:1:1:1:1", "scoring", NOT_ADOPTED,
        "the first criterion of every prompt is scored without looking at its quality",
        fault="criterion_order.pearson_r[criterion=Accuracy",
    ),
    simulated(
        "random", "random", "ranking", REJECT,
        "every answer is drawn: half of the largest differences are missed or reversed",
    ),
    simulated(
        "slot-1-on-equals", "perfect?slot=10&sensitivity=100&lapse=1", "ranking", REJECT,
        "of two equal responses the first wins, always; both orders mend that, which the policy "
        "does not ask for and the sheet must say",
    ),
    simulated(
        "prefers-padded", "perfect?filler=20", "ranking", NOT_ADOPTED,
        "empty sentences win in every pair of a response and its padded copy",
        fault="candidate_order.filler_preference",
    ),
)  # fmt: skip

BADLY_MEASURED = (
    served(
        "refuses-one-slot", Endpoint(refused_in_one_order), "ranking", NOT_PROVEN,
        "three of ten comparisons in one order are refused: nobody knows what a third of the pairs "
        "would have shown",
    ),
    served(
        "served-model-changed", Endpoint(renamed_at_half), "order-only", NOT_PROVEN,
        "another model answered from the middle of criterion_order on, which the policy limits",
    ),
    served(
        "served-model-changed-in-pairs", Endpoint(renamed_at_half, ("candidate_order",)),
        "ranking", NOT_PROVEN,
        "another model answered half of the only axis that was asked",
    ),
    served(
        "served-model-changed-between", Endpoint(renamed_at_half),
        "ranking", NOT_PROVEN,
        "each axis of the policy was answered by one model, but not all by the same: none of the "
        "two is shown to keep every limit",
    ),
    served(
        "random-from-70-percent", Endpoint(random_from_70_percent), "ranking", NOT_PROVEN,
        "from 70 % of the run on every answer is drawn: nobody knows which of the two judges it is",
    ),
    simulated(
        "unfinished-15-percent", "good", "ranking", NOT_PROVEN,
        "251 of 1,672 calls were made", "--max-calls", "251", ends=INCOMPLETE,
    ),
    simulated(
        "unfinished-60-percent", "good", "ranking", NOT_PROVEN,
        "1,003 of 1,672 calls were made", "--max-calls", "1003", ends=INCOMPLETE,
    ),
    simulated(
        "unreadable-axis", "good", "order-only", NOT_PROVEN,
        "the parser reads no reply of criterion_order, which the policy limits",
        "--parser", "criterion_order={files}/parser.toml", prepare=wrong_parser,
    ),
)  # fmt: skip

BORDERLINE = (
    simulated(
        "borderline-ci-regression", "perfect?prone=0.25&seed=1&slot=20&sensitivity=100",
        "ci-regression", NOT_PROVEN,
        "on a quarter of the tasks the slot decides equal pairs, as often as the limit allows",
    ),
    simulated(
        "borderline-natural-pairs", "perfect?prone=0.1&seed=2&surface=100&slot=1000",
        "natural-pairs", NOT_PROVEN,
        "on a tenth of the pairs the slot decides, as often as the limit allows",
        "--axis", "candidate_order", "--stimuli", "{files}/pairs.jsonl", prepare=own_pairs,
    ),
    simulated(
        "borderline-order-only", "fair?shift=0.5:0&width=0.3", "order-only", CONDITIONS,
        "half a point lies between the first and the last place of a criterion, the limit, which "
        "only warns; that the order of criteria moves scores is shown, and made a condition",
    ),
    simulated(
        "borderline-ranking", "fair?sensitivity=1.64&width=0.1", "ranking", NOT_PROVEN,
        "the largest difference is found in 90 % of calls, the limit",
    ),
    simulated(
        "borderline-scoring", "fair?first=1.4", "scoring", NOT_PROVEN,
        "the preference for the first line is a Cramér's V of .15, the limit",
    ),
)  # fmt: skip

LOCAL = Judge(
    "local-model", "ranking", REJECT,
    "a model of 135 million parameters takes one slot whatever stands there",
    ("probe", "--model", "local/smollm2-135m", "--profile", "first"),
)  # fmt: skip


def recorded(data: Path) -> Iterator[Judge]:
    """A judge of a public log, if the folder holds that."""
    log = next(data.glob("recorded_judgments_judging_the_judges_repetitions.jsonl*"), None)
    if log is None:
        return
    name, dataset = "claude-3-haiku-20240307", "DevBench"

    def prepare(folder: Path) -> None:
        rows = pairs(Namespace(log=log, judge=name))
        mine = (json.dumps(row) for row in rows if row["stimulus"].startswith(f"{dataset}/"))
        (folder / name).write_text("\n".join(mine), encoding="utf-8")

    yield Judge(
        "recorded-log", "natural-pairs", REJECT,
        f"published: {name} changes its verdict on four of five pairs of {dataset} when they are "
        "swapped, and on one of five when they are not",
        ("ingest", f"{{files}}/{name}"), prepare=prepare,
    )  # fmt: skip


def judges(data: Path | None = None, *, local: bool = False) -> Mapping[str, Judge]:
    """Every judge by name: the recorded one where `data` holds its log, the real one if wanted."""
    every = (*SOUND, *FAULTY, *BADLY_MEASURED, *BORDERLINE)
    more = (*(recorded(data) if data else ()), *((LOCAL,) if local else ()))
    return {judge.name: judge for judge in (*every, *more)}
