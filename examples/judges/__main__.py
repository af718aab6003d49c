"""Datasheets of real judges, and what of them can be compared.

    python -m examples.judges --data FOLDER --model local/smollm2-135m --out build/judges

`FOLDER` holds the public logs of `LOGS` (JSONL, gzipped or not; `examples/recorded_logs.py` has
their form); those that it lacks are left out. `--model` asks a judge on this machine, any GGUF file
among them, for an hour or so; `--run` takes a run that is there, without asking anything. Every
judge has its sheet in its folder of `--out`; the figures of all, and nothing else of the logs, go
to `estimates.json` beside this file, which docs/real-judges.md is made of.

Judges stand in one group if they answered the same questions, pair by pair and repeat by repeat,
in the same log. Nothing is compared across groups: other questions and other prompts. `--part`
makes one part anew and keeps the others: what the order does (`order`), what dress does to the
models and runs (`dress`), and what results with the errors of two logs' judges are worth
(`results`, in `results.py`).
"""

import argparse
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import judgesheet
from examples.judges.results import corrected, dress, own
from examples.recorded_logs import pairs, rows
from judgesheet.base.records import Datasheet
from judgesheet.sheet.identity import protocol_id

ESTIMATES = Path(__file__).with_name("estimates.json")
FIGURES = {
    "score_order": ("order_change_rate", "repeat_change_rate", "excess_flip_rate"),
    "candidate_order": ("order_change_rate", "repeat_change_rate", "excess_change_rate"),
}
"""Per axis: how often a verdict changes with the order, how often without, and the difference."""
DIRECTION = {
    "score_order": "position_share[position=1]",
    "candidate_order": "slot1_share",
}
"""Per axis: how much of what is chosen stands first."""


@dataclass(frozen=True, slots=True)
class Log:
    """A public log of verdicts: where it comes from, and what its questions were."""

    file: str
    stimuli: str
    prompt: str
    source: str
    licence: str


SHI = (
    "Position-Bias-Analyzer of Shi et al. 2024, arXiv 2406.07791 "
    "(github.com/Slimshilin/Position-Bias-Analyzer, 9f8b7e8e)"
)
"""The source of two logs."""
LOGS = (
    Log(
        "recorded_judgments_judging_the_judges_repetitions.jsonl",
        "{dataset}, some pairs of systems, each asked three times in both orders",
        "the authors', for {dataset}",
        SHI,
        "MIT, (c) 2024 Slimshilin",
    ),
    Log(
        "recorded_judgments_judging_the_judges.jsonl",
        "{dataset}, all pairs of systems, each asked once in both orders",
        "the authors', for {dataset}",
        SHI,
        "MIT, (c) 2024 Slimshilin",
    ),
    Log(
        "recorded_judgments_qlora_vicuna_pairwise.jsonl",
        "{dataset}, all pairs of systems, each asked once in both orders",
        "the authors'",
        "QLoRA of Dettmers et al. 2023 (github.com/artidoro/qlora, 7f4e95a6)",
        "MIT, (c) 2023 Artidoro Pagnoni, Tim Dettmers",
    ),
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """The verdicts of one judge on one set of questions."""

    log: Log
    dataset: str
    judge: str
    verdicts: list[dict[str, Any]]

    @property
    def questions(self) -> str:
        """A digest of what was asked, the same for judges that were asked the same."""
        asked = sorted(
            json.dumps({**verdict, "verdict": None}, sort_keys=True) for verdict in self.verdicts
        )
        return hashlib.sha256("\n".join(asked).encode()).hexdigest()[:10]


def main() -> None:
    """Make a sheet per judge, and the figures of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("JUDGES_DATA"))
    parser.add_argument("--model", action="append", default=[], help="local/NAME or local/FILE")
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--run", action="append", type=Path, default=[])
    parser.add_argument("--out", type=Path, default=Path("build/judges"))
    parser.add_argument("--estimates", type=Path, default=ESTIMATES)
    parser.add_argument("--part", action="append", choices=PARTS, default=[])
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    made = json.loads(chosen.estimates.read_text("utf-8")) if chosen.estimates.exists() else {}
    for part in chosen.part or PARTS:
        made |= PARTS[part](chosen)
    made["judgesheet"] = judgesheet.__version__
    chosen.estimates.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def _order(chosen: argparse.Namespace) -> dict[str, Any]:
    """What the order does, a group per set of questions."""
    groups: dict[str, dict[str, Any]] = {}
    for place, title, sheet in (*_of_logs(chosen), *_of_models(chosen)):
        for axis in sheet.axes:
            if axis.name in FIGURES and axis.answered:
                key = json.dumps([axis.name, *title.values()])
                group = groups.setdefault(key, {"axis": axis.name, **title, "judges": []})
                group["judges"].append({"judge": place, **figures(sheet, axis.name)})
    for group in groups.values():
        group["judges"].sort(key=lambda judge: judge["judge"])
    return {"groups": list(groups.values())}


def _dress(chosen: argparse.Namespace) -> dict[str, Any]:
    """What dress does to every model and run that was asked about it."""
    sheets = [sheet for sheet in _runs(chosen, ["presentation"]) if _asked(sheet, "presentation")]
    return {"dress": [dress(sheet) for sheet in sheets]} if sheets else {}


def _results(chosen: argparse.Namespace) -> dict[str, Any]:
    """What names do to the judges of a log, and what corrected results are worth."""
    if not chosen.data:
        return {}
    read = chosen.data, chosen.out
    return {"own": list(own(*read)), "corrected": list(corrected(*read))}


PARTS = {"order": _order, "dress": _dress, "results": _results}
"""What is made; without logs or models a part of them stays as it was."""


def _of_logs(chosen: argparse.Namespace) -> Iterator[tuple[str, dict[str, str], Datasheet]]:
    for recorded in [*recordings(chosen.data)] if chosen.data else []:
        about = {
            name: getattr(recorded.log, name).format(dataset=recorded.dataset)
            for name in ("stimuli", "prompt", "source", "licence")
        }
        folder = chosen.out / f"{recorded.questions}-{recorded.judge}".replace(" ", "_")
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / recorded.judge
        file.write_text("\n".join(map(json.dumps, recorded.verdicts)), encoding="utf-8")
        sheet = judgesheet.ingest(file, folder, pdf=False, cases=False).datasheet
        yield recorded.judge, {**about, "questions": recorded.questions}, sheet


def recordings(data: Path) -> Iterator[Recorded]:
    """Every judge of every log in the folder, by dataset."""
    for log in LOGS:
        file = next((one for one in data.glob(f"{log.file}*")), None)
        known = sorted({(row["dataset"], row["judge"]) for row in rows(file)}) if file else ()
        for dataset, judge in known:
            only = argparse.Namespace(log=file, judge=judge)
            mine = [one for one in pairs(only) if one["stimulus"].startswith(f"{dataset}/")]
            yield Recorded(log, dataset, judge, mine)


def _of_models(chosen: argparse.Namespace) -> Iterator[tuple[str, dict[str, str], Datasheet]]:
    for sheet in _runs(chosen, [*FIGURES]):
        about = {
            "stimuli": f"built-in questions, profile {sheet.run.profile}",
            "prompt": f"built-in, replies as {sheet.run.reply}",
            "source": "asked on the machine that made this page",
            "licence": "Apache-2.0, as this project",
        }
        yield sheet.judge.model, {**about, "questions": protocol_id(sheet)}, sheet


def _runs(chosen: argparse.Namespace, axes: list[str]) -> Iterator[Datasheet]:
    """The runs that are there, and those of the models on these axes."""
    for folder in chosen.run:
        yield judgesheet.measure(folder, pdf=False, cases=False).datasheet
    for model in chosen.model:
        folder = chosen.out / "-".join([model.replace("/", "-"), *axes])
        asked = {"axes": axes, "profile": chosen.profile, "pdf": False}
        yield judgesheet.probe(model, folder, **asked).datasheet


def _asked(sheet: Datasheet, axis: str) -> bool:
    return any(one.name == axis and one.answered for one in sheet.axes)


def figures(sheet: Datasheet, axis: str) -> dict[str, Any]:
    """The compared figures of one axis of a sheet, with intervals; None where there is none."""
    (mine,) = (one for one in sheet.axes if one.name == axis)
    known = {one.key: one for one in mine.estimates}
    pool = "natural" if f"{axis}.slot1_share[set=natural]" in known else "same_subset"
    where = f"[set={pool}]" if axis == "candidate_order" else ""
    found: dict[str, Mapping[str, Any]] = {}
    for name in (*FIGURES[axis], DIRECTION[axis]):
        key = f"{axis}.{name}{'' if '[' in name else where}"
        one = known[key]
        rounded = {end: _rounded(getattr(one, end)) for end in ("value", "low", "high")}
        found[key] = {**rounded, "unit": one.unit, "clusters": one.clusters, "note": one.note}
    return {
        "calls": mine.planned,
        "lost": mine.planned - mine.answered,
        "estimates": found,
    }


def _rounded(value: float | None) -> float | None:
    """A figure to four digits: what the page shows has two."""
    return None if value is None else round(value, 4)


if __name__ == "__main__":
    main()
