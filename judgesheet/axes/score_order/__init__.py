"""Does a score depend on the order in which the rubric lists its descriptions?

The same response is graded against the same described scores, listed in other orders (setting 1 of
paper 000; paper 001). A rubric is a multiple-choice question in disguise, and a judge can follow the
line's place instead of its content.

Read in this order: the material, the cells, the prompt, the parser (all here), then the estimates:
`positions` (is a place favoured), `ordering` (which order to use), `reversal` (does the ranking
flip), `alignment` (does the score follow quality), and `words` (what all that means).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from judgesheet.axes import Expectation, Options, Problem, Readings
from judgesheet.axes._material import duplicates, leaks, length_against_level, length_spread
from judgesheet.axes._material import word_count as _word_count
from judgesheet.axes._reply import exactly_one_score
from judgesheet.axes.score_order._design import Settings, build, picked, settings_for
from judgesheet.records import Call, Estimate, Figure, Label, ReplyFormat, Stimulus

if TYPE_CHECKING:
    import numpy as np
    from pydantic import BaseModel

NAME = "score_order"
TITLE = "Order of the rubric's scores"
QUESTION = "Does a score depend on the order in which the rubric lists its descriptions?"
TEMPLATE = "score_order.jinja"
