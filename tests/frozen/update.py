"""Write the frozen values anew: `python -m tests.frozen.update`.

Whatever changes in `values/` is a change of what a datasheet says: each is named in `EXCEPTIONS` of
`test_frozen` first, with its reason. A ledger that is there is never made again.
"""

import json
import lzma
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judgesheet.base.keys import Key
from judgesheet.base.resources import data_folder
from judgesheet.ledger.run_directory import LEDGER
from tests.command import run
from tests.frozen import LEDGERS, LOGS, SUFFIX, VALUES, Frozen, is_here, measured

QUICK = ("--profile", "quick")
RUNS: Mapping[str, tuple[str, ...]] = {
    "fair": ("--model", "sim/fair", *QUICK),
    "first-biased": ("--model", "sim/first-biased", *QUICK),
    "coin": ("--model", "sim/random", *QUICK),
    "perfect": ("--model", "sim/perfect", *QUICK),
    "criterion-shift": ("--model", "sim/fair?shift=1:0:0:0:-1&weights=1:-1&width=0.3", *QUICK),
    "tie-lover": ("--model", "sim/noisy?tie=12&strict=0", *QUICK),
    "losses": ("--model", "sim/fair?unreadable=0.06&refused=0.02&last=0.5&slot=-1", *QUICK),
    "list-places": ("--model", "sim/fair?position=0:3:0:0&gap=8&perturb=6", *QUICK),
    "own-stimuli": (
        *(
            "--model",
            "sim/fair?first=1&last=0.5&slot=2&shift=0.5:0&shared=5&sensitivity=2&slip=0.1",
        ),
        *("--profile", "standard", "--stimuli", "{stimuli}"),
    ),
    "local": ("--model", "local/smollm2-135m", "--profile", "first"),
}
"""How the judges were asked. The profile quick lacks arms, scales, people and own pairs: those are
in `own-stimuli`, which has few stimuli so that it stays small."""
FEW, PAIRS = 6, 24

STAYING = {
    "score_order": """
        position_share chi2 chi2_p cramers_v cramers_v_debiased order_dependence_p order_change_rate
        repeat_change_rate excess_change_rate repeat_flip_rate excess_flip_rate top1_flip_rate
        kendall_tau within_item_sd pearson_r single_read_r spearman_r pair_accuracy rater_ceiling_r
        quality_kappa delta_r selection bias_cost min_bias_order per_order_r default_order_rank
        budget_r expected_order_effect expected_pearson_r loss_rate order_flip_rate top_tie_rate
        scores_used min_bias_confidence""",
    "criterion_order": """
        mean_delta_pos mean_delta_pos_null max_delta_pos max_delta_pos_null significant_criteria
        delta_pos friedman_p position_shift position_mean order_change_rate repeat_change_rate
        excess_change_rate pearson_r single_read_r delta_r budget_r order_dependence_p loss_rate
        order_flip_rate repeat_flip_rate excess_flip_rate scores_used top_tie_rate""",
    "candidate_order": """
        dark_current raw_false_preference stable_cross_sensitivity positional_false_preference
        one_sided_commit other_conflict no_preference order_inconsistent slot1_share
        order_dependence_p repeat_change_rate target_sensitivity target_sensitivity_decided
        quality_kappa wrong_rate tie_rate miss_by_tie slot_gap threshold75 d_prime criterion
        criterion_shift filler_preference loss_rate order_change_rate""",
    "listwise_consensus": """
        accuracy chance_accuracy gain gain_over_repeated improved regressed unchanged change_rate
        sign_test_p calls_per_decision weight_sensitivity win_share place_v order_dependence_p
        order_flip_rate repeat_flip_rate excess_flip_rate error_correlation independent_error_bound
        loss_rate top_tie_rate""",
    "presentation": """
        preference dress_excess instruction_obeyed quality_seen score_shift longer_preferred
        own_preference loss_rate""",
}
"""The families that stay: those of a paper, a policy, a control, or that every peer prints."""
FAMILIES = {axis: frozenset(names.split()) for axis, names in STAYING.items()}
DIMENSIONS = frozenset(
    {
        *("arm", "arms", "scale", "score", "position", "criterion", "set", "kind", "delta", "dose"),
        *("prompt", "order", "k", "weights", "executions", "system", "family"),
    }
)
"""Dimensions of keys that stay."""


def main() -> None:
    """Write what is missing of the ledgers, and all values."""
    for name, words in RUNS.items():
        file = LEDGERS / f"{name}{SUFFIX}"
        if not file.exists():
            _ask(words, file)
    for name in (*RUNS, *LOGS):
        if is_here(name):
            _write(VALUES / f"{name}.json", measured(name, FAMILIES))


def _ask(words: tuple[str, ...], file: Path) -> None:
    """Ask a judge by the command line, and keep its ledger."""
    with TemporaryDirectory() as folder:
        stimuli, out = Path(folder) / "stimuli", Path(folder) / "run"
        _write_stimuli(stimuli)
        done = run("probe", *(word.format(stimuli=stimuli) for word in words), "--out", out)
        if done.returncode:
            raise SystemExit(done.stderr)
        file.write_bytes(lzma.compress((out / LEDGER).read_bytes(), preset=9))


def _write_stimuli(folder: Path) -> None:
    """A few of the built-in stimuli with scores as people give them, and own pairs of responses."""
    files = data_folder("stimuli").glob("*.jsonl")
    every = {file.name: list(map(json.loads, file.open(encoding="utf-8"))) for file in files}
    rated = every["score_order.jsonl"]
    lines = {name: stimuli[:FEW] for name, stimuli in every.items()}
    for candidate in (candidate for stimulus in rated for candidate in stimulus["candidates"]):
        candidate["human"] = round(1 + candidate["level"] * 4 / 10)
    for number, stimulus in enumerate(rated[:PAIRS]):
        pair = {"id": f"own-{number}", "request": stimulus["prompt"]}
        texts = [candidate["text"] for candidate in stimulus["candidates"]]
        one, two = (texts[0], texts[-1]) if number % 2 else (texts[-1], texts[0])
        better, systems = number % 3 == 0, ["one", "two"] if number % 2 else ["two", "one"]
        compared = {**pair, "u": one, "v": two, "better": "uv"[better]}
        dressed = {**pair, "a": one, "b": two, "better": "ab"[better], "systems": systems}
        lines["candidate_order.jsonl"].append(compared)
        lines["presentation.jsonl"].append(dressed)
    folder.mkdir()
    for name, stimuli in lines.items():
        (folder / name).write_text("".join(map(_line, stimuli)), encoding="utf-8")


def _line(stimulus: Mapping[str, Any]) -> str:
    return json.dumps(stimulus) + "\n"


def _write(file: Path, found: Frozen) -> None:
    """One key a line, so that a change shows which."""
    lines = (f"{json.dumps(key)}: {json.dumps(found[key])}" for key in _kept(found))
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _kept(found: Frozen) -> Iterator[str]:
    """The keys whose dimensions stay; of correlations by criterion those of one arm."""
    for key in sorted(found):
        dims = Key.parse(key).dims
        one_arm = "criterion" not in dims or dims.get("arm", "balanced") == "balanced"
        if dims.keys() <= DIMENSIONS and one_arm:
            yield key


if __name__ == "__main__":
    main()
