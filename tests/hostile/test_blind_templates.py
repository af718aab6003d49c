"""A template that looks at what it shows measures nothing: all that cheat are refused."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from judgesheet.axes import all_axes, get_axis, pool, prompt
from judgesheet.axis import Options
from judgesheet.base.errors import TemplateError
from judgesheet.base.records import Plan
from judgesheet.planning.plan import make_plan


def plan_of(axis: str, template: str, path: Path | None = None) -> Plan:
    options = Options("smoke", template=template)
    return make_plan([get_axis(axis)], {axis: options}, 1, path)


SCORES = "{{ prompt }}\n{{ response }}\n"
EACH = "{% for o in LIST %}{{ o.score }}: {{ o.description }}\n{% endfor %}"
LISTS = "{{ prompt }}\n"
CANDIDATE = "{{ boundary }} {{ c.label }}\n{{ c.text }}\n{{ boundary }}\n"
PAIR = "{{ request }}\n"

CHEATS = {
    "sorts, unless it sees a mark in the prompt": (
        "score_order",
        SCORES + '{% set marked = "\x02" in prompt %}'
        '{% set shown = options if marked else options|sort(attribute="score") %}'
        + EACH.replace("LIST", "shown"),
    ),
    "sorts, unless it sees a mark in the option": (
        "score_order",
        SCORES + '{% set marked = "\x02" in options[0].description %}'
        '{% set shown = options if marked else options|sort(attribute="description") %}'
        + EACH.replace("LIST", "shown"),
    ),
    "sorts short and long ones": (
        "score_order",
        SCORES + "{% set shown = options if options[0].description|length < 40 "
        'else options|sort(attribute="score") %}' + EACH.replace("LIST", "shown"),
    ),
    "drops one in some orders": (
        "score_order",
        SCORES + "{% for o in options %}{% if not (loop.first and o.score == 1) %}"
        "{{ o.score }}: {{ o.description }}\n{% endif %}{% endfor %}",
    ),
    "hints at the first place": (
        "score_order",
        SCORES + "{% if options[0].score > 3 %}Be generous.{% endif %}"
        + EACH.replace("LIST", "options"),
    ),
    "hints at the best": (
        "score_order",
        SCORES + "{% for o in options %}{{ o.score }}: {{ o.description }}"
        "{% if o.score == n %} (usual){% endif %}\n{% endfor %}",
    ),
    "numbers by the place, unless it sees a mark": (
        "score_order",
        SCORES + "{% for o in options %}{{ o.score if '\x02' in o.description else loop.index }}: "
        "{{ o.description }}\n{% endfor %}",
    ),
    "labels the first with the score of the last": (
        "score_order",
        SCORES + "{% for o in options %}{{ options[n - loop.index].score }}: {{ o.description }}\n"
        "{% endfor %}",
    ),
    "writes scores as stars": (
        "score_order",
        SCORES + "{% for o in options %}{{ '*' * o.score }}: {{ o.description }}\n{% endfor %}",
    ),
    "puts them in the order of a set": (
        "criterion_order",
        "{{ prompt }}{{ response }}{% for name in criteria|map(attribute='name')|unique|sort %}"
        "{{ name }}\n{% endfor %}",
    ),
    "prints the levels of another": (
        "criterion_order",
        "{{ prompt }}{{ response }}{% for c in criteria %}{{ c.name }}: "
        "{{ (criteria|sort(attribute='name'))[loop.index0].levels[0].description }}\n{% endfor %}",
    ),
    "hints by the name": (
        "criterion_order",
        "{{ prompt }}{{ response }}{% for c in criteria %}{{ c.name }}"
        "{% if 'e' in c.name[:4] %} (matters most){% endif %}\n{% endfor %}",
    ),
    "groups by the text": (
        "listwise_consensus",
        LISTS + "{% for g in candidates|groupby('text') %}{% for c in g.list %}"
        + CANDIDATE + "{% endfor %}{% endfor %}",
    ),
    "marks the one that is known to be right": (
        "listwise_consensus",
        LISTS + "{% for c in candidates %}" + CANDIDATE
        + "{% if 'boil' in c.text or 'no ' in c.text %}(checked){% endif %}{% endfor %}",
    ),
    "cuts long ones": (
        "listwise_consensus",
        LISTS + "{% for c in candidates %}"
        + CANDIDATE.replace("c.text", "c.text|truncate(60)") + "{% endfor %}",
    ),
    "shows the longer first": (
        "candidate_order",
        PAIR + "{% set swap = second|length > first|length %}"
        "{{ second if swap else first }}\n--\n{{ first if swap else second }}",
    ),
    "hints at the longer": (
        "candidate_order",
        PAIR + "{{ first }}\n--\n{{ second }}\n{% if first|length > second|length %}!{% endif %}",
    ),
    "hides the request, unless it sees a mark": (
        "candidate_order",
        "{% if '\x02' in request %}{{ request }}{% endif %}\n{{ first }}\n--\n{{ second }}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", CHEATS)
def test_a_template_that_cheats_is_refused(how: str) -> None:
    with pytest.raises(TemplateError, match=CHEATS[how][0]) as caught:
        plan_of(*CHEATS[how])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("axis", all_axes())
def test_a_shipped_template_passes_and_makes_the_same_calls(axis: str) -> None:
    own, built_in = (
        make_plan([get_axis(axis)], {axis: Options("quick", template=template)}, 1)
        for template in (prompt(get_axis(axis)), None)
    )
    assert [call.id for call in own.calls] == [call.id for call in built_in.calls]


HONEST = {
    "trims": ("score_order", SCORES.replace(" }}", "|trim }}") + EACH.replace("LIST", "options")),
    "names the ends of the scale": (
        "score_order",
        SCORES + "From {{ options|map(attribute='score')|min }} to {{ n }}, one of "
        "{{ options|map(attribute='score')|sort|join(', ') }}.\n" + EACH.replace("LIST", "options"),
    ),
    "labels behind": (
        "score_order",
        SCORES + "{% for o in options %}{{ o.description }} ({{ o.score }})\n{% endfor %}",
    ),
    "numbers places": (
        "criterion_order",
        "{{ prompt }}{{ response }}{% for c in criteria %}{{ loop.index }}. {{ c.name }}\n"
        "{% endfor %}",
    ),
    "ends with the second": ("candidate_order", "{{ request }}\n1: {{ first }}\n2: {{ second }}"),
}


@pytest.mark.parametrize("how", HONEST)
def test_an_honest_template_passes(how: str) -> None:
    assert plan_of(*HONEST[how]).calls


def test_the_template_of_the_docs_passes() -> None:
    docs = Path(__file__).parents[2] / "docs"
    found = re.search(r"```jinja\n(.+?)```", (docs / "prompts.md").read_text(), re.DOTALL)
    assert found is not None
    assert plan_of("score_order", found[1]).calls


def widened(axis: str, tmp_path: Path, change: Any) -> Path:
    records = [json.loads(line) for line in pool(get_axis(axis)).read_text().splitlines()]
    file = tmp_path / "stimuli.jsonl"
    file.write_text("".join(json.dumps(change(record)) + "\n" for record in records))
    return file


def test_blanks_around_a_text_do_not_matter(tmp_path: Path) -> None:
    def padded(record: dict[str, Any]) -> dict[str, Any]:
        record["prompt"] = f"\n {record['prompt']} \n\n"
        for candidate in record["candidates"]:
            candidate["text"] = f"{candidate['text']}\n\n"
        return record

    file = widened("score_order", tmp_path, padded)
    for template in (SCORES, SCORES.replace("prompt }}", "prompt|trim }}")):
        assert plan_of("score_order", template + EACH.replace("LIST", "options"), file).calls


@pytest.mark.parametrize("wrong", ["{{ 1 / 0 }}", "{{ 1 + 'a' }}", "{{ options[99].score }}",
                                   "{{ range(10**9)|list }}", "{{ 'a'.b() }}"])  # fmt: skip
def test_a_template_that_breaks_is_one_sentence(wrong: str) -> None:
    with pytest.raises(TemplateError, match=r"\boptions\b") as caught:
        plan_of("score_order", SCORES + wrong)
    assert "\n" not in str(caught.value)


def test_stimuli_are_values_and_no_templates(tmp_path: Path) -> None:
    def hostile(record: dict[str, Any]) -> dict[str, Any]:
        record["prompt"] = "\x02abcd option 1\x03 {{ options }} {% raw %}"
        return record

    file = widened("score_order", tmp_path, hostile)
    planned = plan_of("score_order", SCORES + EACH.replace("LIST", "options"), file)
    assert "{{ options }}" in planned.calls[0].messages[0]["content"]
