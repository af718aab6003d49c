"""`datasheet.json` there and back, and the keys in it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from judgesheet.base.datasheet import by_key, from_json, to_json
from judgesheet.base.errors import RunError
from judgesheet.base.estimates import Estimates
from judgesheet.base.keys import Key
from judgesheet.base.records import Datasheet, Estimate
from tests.sheet import sheets


@pytest.mark.parametrize("make", [sheets.plausible, sheets.all_unreadable])
def test_there_and_back(make: Callable[[], Datasheet], tmp_path: Path) -> None:
    path = tmp_path / "datasheet.json"
    path.write_text(to_json(make()), encoding="utf-8")
    assert to_json(from_json(path)) == to_json(make()) == to_json(from_json(to_json(make())))


def test_hostile_words_survive() -> None:
    sheet = sheets.hostile()
    named = replace(sheet.axes[0], name=sheets.AXIS, estimates=sheet.axes[0].estimates[:-1])
    sheet = replace(sheet, axes=(named,))
    back = from_json(to_json(sheet))
    assert back.judge == sheet.judge
    assert back.axes[0].estimates[8] == sheet.axes[0].estimates[8]


def test_no_nan_is_written() -> None:
    sheet = sheets.plausible()
    axis = replace(
        sheet.axes[0], estimates=(Estimate("a.b", "odd", float("nan"), float("-inf"), 2.0),)
    )
    written = json.loads(to_json(replace(sheet, axes=(axis,))))["axes"][0]["estimates"][0]
    assert (written["value"], written["low"], written["high"]) == (None, None, 2.0)
    assert written["note"] == "the computation gave no finite number"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ('{"schema_version": "1.0"', "is not valid JSON"),
        ("[]", "has no schema_version"),
        ('{"schema_version": "4.0"}', "has schema version 4.0"),
        ('{"schema_version": "1.0"}', "judge"),
        ('{"schema_version": "1.0", "x": NaN}', "NaN is not a number"),
    ],
)
def test_a_broken_file_is_one_sentence(change: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text(change)
    with pytest.raises(RunError, match=r"broken\.json") as caught:
        from_json(path)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_sentence_names_the_field() -> None:
    data = json.loads(to_json(sheets.plausible()))
    data["axes"][0]["estimates"][3]["n"] = "many"
    with pytest.raises(RunError, match=r"axes\.1\.estimates\.4\.n: "):
        from_json(json.dumps(data))
    data["axes"][0]["estimates"][3].update(n=1, value=None, note="")
    with pytest.raises(RunError):
        from_json(json.dumps(data))


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"none\.json"):
        from_json(tmp_path / "none.json")


def test_keys_come_apart() -> None:
    assert Key.parse("score_order.chi2") == Key("score_order", "chi2", {})
    dims = {"score": "3", "position": "2"}
    assert Key.parse("score_order.selection[score=3,position=2]") == Key(
        "score_order",
        "selection",
        dims,
    )
    comma = Key.parse("c.position_mean[criterion=clear, short,position=1]")
    assert comma.dims == {"criterion": "clear, short", "position": "1"}
    with pytest.raises(RunError, match="nonsense"):
        Key.parse("nonsense")


def test_what_earlier_sheets_wrote_as_text_is_read_as_data() -> None:
    data = json.loads(to_json(sheets.judged()))
    (axis,) = data["axes"]
    (chi2,) = (one for one in axis["estimates"] if one["key"].endswith(".chi2"))
    del chi2["given"], axis["controls"][0]["code"]
    chi2["unit"] = "chi-square, 4 df"
    read = from_json(json.dumps(data)).axes[0]
    assert read.controls[0].code == read.controls[0].name
    found = next(one for one in read.estimates if one.key == chi2["key"])
    assert (found.unit, found.given) == ("chi-square", {"df": 4})


def test_the_test_of_the_order_of_an_older_sheet_is_that_of_all_stimuli_together() -> None:
    """Another one had its name, on pairs by set."""
    data = json.loads(to_json(sheets.judged()))
    (axis,) = data["axes"]
    test = next(one for one in axis["estimates"] if one["key"].endswith(".order_dependence_p"))
    today = test["key"]
    by_set = {**test, "key": f"{today}[set=natural]", "value": 0.7}
    together = {**test, "key": today.replace("order_dependence_p", "anywhere_p"), "value": 0.3}
    axis["estimates"] += [by_set, together]
    for version, value in (("2.2", 0.3), (data["schema_version"], test["value"])):
        read = by_key(from_json(json.dumps(data | {"schema_version": version})))
        assert read[today].value == value
        assert (by_set["key"] in read) == (version != "2.2")


def test_families_and_keys() -> None:
    sheet = sheets.plausible()
    shares = Estimates(sheets.AXIS, sheet.axes[0].estimates).family("position_share")
    assert [dims["position"] for dims, _ in shares] == ["1", "2", "3", "4", "5"]
    assert by_key(sheet)["score_order.cramers_v"].value == 0.2713
