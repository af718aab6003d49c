"""A user's template that calls itself without end, or reaches out, is refused in one sentence."""

import pytest

from judgesheet.axis.prompt import compile_prompt
from judgesheet.base.errors import TemplateError

ENDLESS = {
    "a long range": "{% for i in range(10**9) %}{% endfor %}",
    "a loop that calls itself": "{% for i in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "a macro that calls itself": "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
    "brackets within brackets": f"{{{{ {'(' * 9999}1{')' * 9999} }}}}",
    "reaching out": "{{ ''.__class__.__mro__ }}",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_it_ends_in_one_sentence(name: str) -> None:
    with pytest.raises(TemplateError, match=r"^the prompt of score_order: ") as caught:
        compile_prompt(ENDLESS[name], "the prompt of score_order")()
    assert "\n" not in str(caught.value)
