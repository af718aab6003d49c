"""Datasheets of real judges, their decisions, and what of them can be compared.

    python -m examples.judges --data FOLDER --run DIR --out build/judges

`FOLDER` holds the public logs of `LOGS` (JSONL, gzipped or not; `examples/recorded_logs.py` has
their form); those that it lacks are left out. `--model` probes a judge on this machine, any GGUF
file among them; `--run` takes a run that is there, without asking anything. Every judge has its
sheet in its folder of `--out`; the figures of all, and nothing else of the logs, go to
`estimates.json` beside this file, which docs/real-judges.md is made of.

Judges stand in one group if they answered the same questions, pair by pair and repeat by repeat,
in the same log. Nothing is compared across groups: other questions and other prompts. `--part`
makes one part anew and keeps the others: the judges of the logs (`order`), models and runs
(`runs`), and what results with the errors of two logs' judges are worth (`results`, in
`results.py`).
"""

import argparse
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import judgesheet
from examples.judges.results import corrected, own
from examples.recorded_logs import Record, compared_row, rows
from judgesheet.base.datasheet import by_key
from judgesheet.base.records import Datasheet

ESTIMATES = Path(__file__).with_name("estimates.json")
POLICY = "natural-pairs"
AXIS = "candidate_order"
FIGURES = ("order_change_rate", "repeat_change_rate", "excess_change_rate", "slot1_share")
"""How often a winner changes with the order, how often without, the difference, and which slot."""


@dataclass(frozen=True, slots=True)
class Log:
    """A public log of verdicts: where it comes from, and what its questions were."""

    file: str
    stimuli: str
    prompt: str
    source: str
    licence: str
    keeps: Callable[[Record], bool] = lambda _: True


def plain_and_natural(row: Record) -> bool:
    """Of LLMBar the questions that were not made to deceive, under the plain prompt."""
    return bool(row["setting"] == "Vanilla" and row["item_id"].startswith("Natural/"))


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
    Log(
        "recorded_judgments_llmbar.jsonl",
        "{dataset}, natural questions, each asked once in both orders",
        "the authors' plain one",
        "LLMBar of Zeng et al. 2024 (github.com/princeton-nlp/LLMBar)",
        "MIT, (c) 2023 Princeton Natural Language Processing",
        plain_and_natural,
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
    parser.add_argument("--profile", default="first")
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
    """What the order does to the judges of the logs, a group per set of questions."""
    groups: dict[str, dict[str, Any]] = {}
    for recorded in [*recordings(chosen.data)] if chosen.data else []:
        about = {
            name: getattr(recorded.log, name).format(dataset=recorded.dataset)
            for name in ("stimuli", "prompt", "source", "licence")
        }
        about["questions"] = recorded.questions
        group = groups.setdefault(json.dumps(about), {**about, "judges": []})
        sheet = _sheet(recorded, chosen.out)
        group["judges"].append({"judge": recorded.judge, **figures(sheet)})
    for group in groups.values():
        group["judges"].sort(key=lambda judge: judge["judge"])
    return {"groups": list(groups.values())} if groups else {}


def _sheet(recorded: Recorded, out: Path) -> Datasheet:
    folder = out / f"{recorded.questions}-{recorded.judge}".replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / recorded.judge
    file.write_text("\n".join(map(json.dumps, recorded.verdicts)), encoding="utf-8")
    made = judgesheet.ingest(file, folder, POLICY, pdf=False, cases=False)
    return made.datasheet


def _runs(chosen: argparse.Namespace) -> dict[str, Any]:
    """What was read, lost and decided of every model and run."""
    made = [
        judgesheet.measure(folder, policy="ranking", pdf=False, cases=False)
        for folder in chosen.run
    ]
    for model in chosen.model:
        out, asked = chosen.out / model.replace("/", "-"), {"profile": chosen.profile, "pdf": False}
        made.append(judgesheet.probe(model, out, policy="ranking", **asked))
    return {"runs": [run_facts(one.datasheet) for one in made]} if made else {}


def run_facts(sheet: Datasheet) -> dict[str, Any]:
    """One run: in which form it was asked, what became of its calls, and what follows."""
    run = sheet.run
    return {
        "judge": sheet.judge.model, "profile": run.profile, "reply": run.reply,
        "temperature": run.temperature, "seed": run.seed,
        "planned": run.planned, "asked": run.settled,
        "answered": run.answered, "unreadable": run.unreadable, **decided(sheet),
    }  # fmt: skip


def decided(sheet: Datasheet) -> dict[str, Any]:
    """The decision, and which limits are broken, by the names of their figures."""
    labels = {key: one.label for key, one in by_key(sheet).items()}
    broken = [labels[one.key] for one in sheet.verdicts if one.status == "fail"]
    return {"decision": sheet.decision.verdict if sheet.decision else "", "broken": broken}


def _results(chosen: argparse.Namespace) -> dict[str, Any]:
    """What names do to the judges of a log, and what corrected results are worth."""
    if not chosen.data:
        return {}
    read = chosen.data, chosen.out
    return {"own": list(own(*read)), "corrected": list(corrected(*read))}


PARTS = {"order": _order, "runs": _runs, "results": _results}
"""What is made; without logs or models a part of them stays as it was."""


def recordings(data: Path) -> Iterator[Recorded]:
    """Every judge of every log in the folder, by dataset."""
    for log in LOGS:
        file = next((one for one in data.glob(f"{log.file}*")), None)
        verdicts: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in rows(file) if file else ():
            if log.keeps(row):
                verdicts.setdefault((row["dataset"], row["judge"]), []).append(compared_row(row))
        for (dataset, judge), mine in sorted(verdicts.items()):
            yield Recorded(log, dataset, judge, mine)


def figures(sheet: Datasheet) -> dict[str, Any]:
    """The compared figures of a sheet, with intervals, and what follows."""
    (axis,) = (one for one in sheet.axes if one.name == AXIS)
    known = by_key(sheet)
    found: dict[str, Mapping[str, Any]] = {}
    for key in (f"{AXIS}.{name}[set=natural]" for name in FIGURES):
        one = known[key]
        rounded = {end: _rounded(getattr(one, end)) for end in ("value", "low", "high")}
        found[key] = {**rounded, "unit": one.unit, "clusters": one.clusters, "note": one.note}
    return {
        "calls": axis.planned,
        "lost": axis.planned - axis.answered,
        "estimates": found,
        **decided(sheet),
    }


def _rounded(value: float | None) -> float | None:
    """A figure to four digits: what the page shows has two."""
    return None if value is None else round(value, 4)


if __name__ == "__main__":
    main()
