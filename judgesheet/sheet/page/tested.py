"""Page one: what was asked, and what does not follow from it."""

from collections.abc import Iterable, Iterator, Sequence

from judgesheet.base.digits import counted
from judgesheet.base.facts import PromptUsed, StimulusPool
from judgesheet.base.limits import MOST_NAMED
from judgesheet.base.records import BUILT_IN, Datasheet
from judgesheet.base.sanitize import listed
from judgesheet.sheet import show
from judgesheet.sheet.page.parts import Context, Fact, total


def tested(context: Context) -> Fact:
    """What was tested, as the value, and what was not, as the remark."""
    sheet = context.sheet
    own = any(name != BUILT_IN for name in _names(sheet.provenance.stimuli))
    return Fact(
        "Tested", "; ".join(_tested(context, own=own)), "; ".join(_untested(sheet, own=own))
    )


def _tested(context: Context, *, own: bool) -> Iterator[str]:
    sheet = context.sheet
    pools, prompts = _names(sheet.provenance.stimuli), _names(sheet.provenance.prompts)
    looked = show.looked(sheet.run)
    on_stimuli = f" on {stimuli}" if (stimuli := context.on_stimuli([*context.stimuli])) else ""
    profile = sheet.run.profile
    in_profile = f", profile {show.short(profile, 20)}" if profile else ""
    yield f"{counted(total(sheet, 'made'), 'call')}{on_stimuli}{in_profile}"
    if looked:
        yield looked
    if own or not pools:
        yield f"your stimuli ({_listed(pools)})" if own else "stimuli not recorded"
    else:
        yield "built-in stimuli: single requests on general topics, in English"
        yield "quality known by how the responses were written, not by human ratings"
    is_built_in = prompts == [BUILT_IN]
    yield "built-in prompts, not yours" if is_built_in else f"prompts: {_listed(prompts)}"


def _names(used: Iterable[StimulusPool | PromptUsed]) -> list[str]:
    """The names of the stimuli or prompts of all axes, each once."""
    return list(dict.fromkeys(str(one.name) for one in used))


def _listed(names: Sequence[str]) -> str:
    # A recorded log has none: nobody knows how its judge was asked.
    return listed([show.short(name, 40) for name in names], MOST_NAMED) or show.NOT_RECORDED


def _untested(sheet: Datasheet, *, own: bool) -> Iterator[str]:
    others = "domains and languages other than those of the stimuli"
    yield others if own else "your domain; other languages"
    if not own:
        yield "conversations of several turns"
    if sheet.run.longest_prompt_tokens is not None:
        yield f"prompts of more than {show.count(sheet.run.longest_prompt_tokens)} tokens"
