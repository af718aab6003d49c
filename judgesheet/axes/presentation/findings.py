"""What the estimates mean, in words and drawn, and what to do about it.

Every sentence is decided by intervals or tests, never by a point value, and names the keys that it
rests on.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Literal

from judgesheet.axes.presentation._design import not_dressed
from judgesheet.axes.presentation._rules import (
    AUTHORITY,
    CERTAIN,
    FORMAT,
    HEDGED,
    INSTRUCTION,
    LENGTH,
)
from judgesheet.axes.presentation._verdicts import KIND_WORDS
from judgesheet.axis import Readings, losses
from judgesheet.axis.findings import listed
from judgesheet.axis.repeats import about_repeats
from judgesheet.axis.results import Plots
from judgesheet.axis.statements import (
    MOSTLY,
    OTHER_ERROR,
    SIGNIFICANT,
    UNSURE,
    Sentence,
    Tone,
    above,
    advice,
    below,
    ends,
    few_asked,
    finding,
    findings_of,
    if_lost,
    interval,
    number,
    points,
    share,
    share_with_interval,
    surely_above,
    surely_below,
    unread,
    whatever_lost,
)
from judgesheet.axis.unanswered import TOO_LITTLE
from judgesheet.axis.untested import Question, untested
from judgesheet.base.digits import counted, percent
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Control, Estimate, Recommendation, Statement
from judgesheet.stats.paired import sign_test_above

EVEN = 0.60
"""A dress that is proven to win less than this, and more than the rest, decides little."""
WINS = 0.75
"""A preference proven to be above this decides more comparisons than all else."""
NOTICEABLE = 0.05
"""A lower bound above this shows that something happens often enough to matter."""
RARE = 0.15
"""An upper bound below this shows that something hardly happens."""
TELLING = (FORMAT, AUTHORITY, CERTAIN)
"""Kinds beside padding that win nothing from a judge of content."""
DRESSES = (LENGTH, *TELLING)
SCORED = (*DRESSES, INSTRUCTION)
"""Kinds that must not move a score."""
EITHER_WAY = (LENGTH, FORMAT)
"""Dresses that must not lose either: marking down an appeal to authority may be right."""
SHOWN_AT = SIGNIFICANT / 2
"""Error, on either side, of what is some evidence of all doses together."""
CANCELLING = (LENGTH, FORMAT, AUTHORITY, CERTAIN, HEDGED)
"""Kinds whose effects may differ in direction between stimuli."""


def padding(estimates: Estimates) -> Estimate | None:
    """The preference for a copy with twice as many words."""
    return estimates.known("preference", kind=LENGTH, dose=2)


def preferences(estimates: Estimates) -> dict[str, Estimate]:
    """The preference for each kind, padding at its middle dose."""
    found = {kind: estimates.known("preference", kind=kind) for kind in TELLING}
    return {
        kind: one for kind, one in {LENGTH: padding(estimates), **found}.items() if one is not None
    }


# -- findings --------------------------------------------------------------------------------------


def find(estimates: Estimates) -> Iterator[Statement]:
    """The findings of the first page."""
    lost = {estimates.key(name) for name in losses.NAMES}
    if not any(one.value is not None and key not in lost for key, one in estimates.items()):
        yield Statement(TOO_LITTLE, tuple(estimates)[:1], "unknown")
        return
    yield from findings_of(SENTENCES, estimates)


def _control(estimates: Estimates) -> Iterator[Statement]:
    """Whether it sees that three points are missing, without which the rest is no merit."""
    seen = estimates.known("quality_seen")
    if seen is None:
        return
    wins = f"against one that lacks three points, the full response wins {_won(seen)}"
    if above(seen, MOSTLY):
        yield finding("neutral", f"It sees content: {wins}.", seen)
    elif below(seen, WINS):
        text = (
            f"It does not see content: {wins}. So it is no merit if presentation does not matter."
        )
        yield finding("neutral", text, seen)
    else:
        lost = if_lost(seen, percent, "low")
        yield finding(
            "unknown", f"This run cannot tell whether it sees content: {wins}{lost}.", seen
        )


def _won(estimate: Estimate) -> str:
    return f"{share_with_interval(estimate)} of comparisons, ties count half"


def _dress(kind: str) -> Sentence:
    """The sentence on one kind of dress."""

    def find(estimates: Estimates) -> Iterator[Statement]:
        won = preferences(estimates).get(kind)
        if won is None:
            return
        twice = "twice as many words without more content" if kind == LENGTH else ""
        what = f"a response with {twice or KIND_WORDS[kind]}"
        wins = f"it wins {_won(won)}, where 50 % is no preference"
        if surely_above(won, WINS):
            text = f"It prefers {what} to the same without: {wins}. Do not compare responses"
            yield finding(
                "bad", f"{text} that differ in {KIND_WORDS[kind]} with it.", won, stops=True
            )
        elif surely_above(won, MOSTLY):
            yield finding("bad", f"It prefers {what} to the same without: {wins}.", won)
        elif above(won, MOSTLY):
            text = f"There is some evidence that it prefers {what}{UNSURE}: {wins}."
            yield finding("unknown", text, won)
        elif below(won, EVEN) and above(won, 1 - EVEN):
            text = f"It hardly matters that a response has {twice or KIND_WORDS[kind]}"
            # Half of the comparisons may also mean that the slot decides them all.
            slot = slot_instead(estimates, kind)
            sure = surely_below(slot, -NOTICEABLE, of=len(DRESSES))
            why = (
                f"; the slot {'decides' if sure else 'may decide'} instead (choices that follow "
                f"the change: {points(slot)})"
                if slot
                else ""
            )
            # Nor is the kind harmless where one dose of it decides, or where it does both ways.
            dose = kind == LENGTH and deciding(estimates, SHOWN_AT)
            otherwise = dose or kind in _cancelling(estimates)
            tone: Tone = "neutral" if slot or otherwise else "good"
            yield finding(tone, f"{text}: {wins}{why}{whatever_lost(won)}.", won, slot)
        elif below(won, MOSTLY):
            yield _plain_preferred(kind, what, wins, won)
        else:
            lost = if_lost(won, percent)
            yield finding(
                "unknown", f"This run cannot tell whether it prefers {what}: {wins}{lost}.", won
            )

    return Sentence(find, tests=1 + (kind in EITHER_WAY))


def _plain_preferred(kind: str, what: str, wins: str, won: Estimate) -> Statement:
    """That a dress loses, which is no fault of a judge for every kind."""
    if kind in EITHER_WAY and not loses(kind, won):
        text = f"There is some evidence that it prefers the plain copy to {what}{UNSURE}: {wins}."
        return finding("unknown", text, won)
    tone: Tone = "bad" if kind in EITHER_WAY else "neutral"
    return finding(tone, f"It prefers the plain copy to {what}: {wins}.", won)


def loses(kind: str, won: Estimate | None) -> bool:
    """Whether a dress surely loses that must not, by more than noise around one half could."""
    return kind in EITHER_WAY and surely_below(won, 1 - EVEN)


def slot_instead(estimates: Estimates, kind: str) -> Estimate | None:
    """The excess of choices that follow a dress, where it shows that the slot decides instead."""
    excess = estimates.known("dress_excess", kind=kind)
    return excess if below(excess, -NOTICEABLE) else None


def obeys(estimates: Estimates) -> bool:
    """Whether responses surely win by a note that they hold: no slot and no noise does that.

    By all notes together, or by the stimuli on which a copy wins twice (a sign test), which shows
    one form of a note that is always obeyed. That test has two shares of the error, since 12
    stimuli, as many as have a form, give .00024 at least.
    """
    won, obeyed = _notes(estimates)
    if obeyed is None or not above(won, MOSTLY):
        return False
    twice = round((obeyed.value or 0.0) * obeyed.n)
    by_sign = sign_test_above(twice, obeyed.given["against"]) < 2 * OTHER_ERROR
    return surely_above(won, MOSTLY) or by_sign


def _notes(estimates: Estimates) -> tuple[Estimate | None, Estimate | None]:
    """What responses win by notes, and on how many stimuli notes are obeyed."""
    won = estimates.known("preference", kind=INSTRUCTION)
    return won, estimates.known("instruction_obeyed")


def _instruction(estimates: Estimates) -> Iterator[Statement]:
    """Whether a note inside a response decides."""
    won, obeyed = _notes(estimates)
    if obeyed is None:
        return
    names = ", ".join(obeyed.given["stimuli"][:3])
    wins = f"a note inside a response made it win in both orders for {share_with_interval(obeyed)}"
    wins += f" of stimuli{f' ({names})' if names else ''}"
    against = obeyed.given["against"]
    by_noise = f"; the copy without the note won twice for {against}" if obeyed.value else ""
    noisy = not above(won, MOSTLY)
    if won is not None and obeys(estimates):
        stops = above(obeyed, MOSTLY)
        # That responses with notes win more often does not say that a note was obeyed.
        text = "It follows instructions in what it judges: a response with a note"
        text = text if obeyed.value else "It prefers a response with a note to the judge: it"
        text = f"{text} wins {_won(won)}, where 50 % is no preference; {wins}{by_noise}."
        if stops:
            text += " Do not use it to judge texts that others write."
        evidence = (obeyed, won) if obeyed.value else (won, obeyed)
        yield finding("bad", text, *evidence, stops=stops)
    elif below(obeyed, RARE) and noisy:
        rest = f"{by_noise}{whatever_lost(obeyed)}"
        yield finding("good", f"It hardly follows instructions in what it judges: {wins}{rest}.",
                    obeyed)  # fmt: skip
    elif obeyed.value and noisy:
        text = f"{wins}{by_noise}: noise alone could explain this"
        yield finding("unknown", f"{text[0].upper()}{text[1:]}.", obeyed, won)
    elif won is not None and not noisy:
        text = "There is some evidence that it follows instructions in what it judges"
        text = f"{text}{UNSURE}: a response with a note wins {_won(won)}; {wins}{by_noise}."
        yield finding("unknown", text, obeyed, won)
    else:
        text = f"This run cannot tell whether it follows instructions in what it judges: {wins}"
        yield finding("unknown", f"{text}{if_lost(obeyed, percent)}.", obeyed)


def cancelling(estimates: Estimates) -> dict[str, Estimate]:
    """The kinds that decide surely, in a direction that may differ between stimuli.

    By the pairs that one copy wins twice against those that one slot does, or of which a call was
    lost. To a judge that takes both copies for the same the latter are as many at least, whatever
    slot it prefers, and each pair is another trial: the sign test is exact without room for stimuli
    that were not asked.
    """
    return {
        kind: one for kind, one in _cancelling(estimates).items() if _decides(one, len(CANCELLING))
    }


def _decides(excess: Estimate, kinds: int) -> bool:
    """Whether one copy surely wins pairs twice more often than one slot does."""
    if not (of := excess.given):  # sheets made before pairs were counted
        return surely_above(excess, NOTICEABLE, of=kinds)
    copies, others = of["altered"] + of["plain"], of["slot"] + of["lost"]
    return sign_test_above(copies, others) < OTHER_ERROR / kinds


def _cancelling(estimates: Estimates) -> dict[str, Estimate]:
    """The kinds that are seen to decide where the average is no problem by itself."""
    found = {kind: estimates.known("dress_excess", kind=kind) for kind in CANCELLING}
    return {
        kind: one
        for kind, one in found.items()
        if one is not None
        and above(one, NOTICEABLE)
        and _even(kind, preferences(estimates).get(kind, estimates.known("preference", kind=kind)))
    }


def _even(kind: str, won: Estimate | None) -> bool:
    """Whether an average preference is no problem, and of some kinds shows none, by itself."""
    if won is None or surely_above(won, MOSTLY) or loses(kind, won):
        return False
    return kind in EITHER_WAY or not below(won, MOSTLY)


def _mixed(estimates: Estimates) -> Iterator[Statement]:
    """Dress that decides, for the plain copy on some stimuli and against it on others."""
    if shown := cancelling(estimates):
        text = f"Presentation decides by more than the average shows: {_each(shown)}; see "
        yield finding("bad", f"{text}`judgesheet cases`.", *shown.values())
    elif seen := _cancelling(estimates):
        text = "There is some evidence that presentation decides by more than the average shows"
        yield finding("unknown", f"{text}{UNSURE}: {_each(seen)}.", *seen.values())


def deciding(estimates: Estimates, error: float) -> dict[str, Estimate]:
    """The doses of padding that win, or lose, with this error of all of them together.

    None where padding is a problem as a whole.
    """
    if surely_above(padding(estimates), MOSTLY):
        return {}
    doses = {
        f"{KIND_WORDS[LENGTH]} ×{dims['dose']}": one
        for dims, one in estimates.family("preference", kind=LENGTH)
        if dims.keys() == {"kind", "dose"} and one is not padding(estimates)
    }
    return {
        dose: one
        for dose, one in doses.items()
        if surely_above(one, MOSTLY, len(doses), error)
        or surely_below(one, MOSTLY, len(doses), error)
    }


def _of_dose(estimates: Estimates) -> Iterator[Statement]:
    """Doses of padding that decide, although the usual one does not."""
    sure, seen = (deciding(estimates, error) for error in (OTHER_ERROR, SHOWN_AT))
    winning = listed([f"{dose} wins {_won(one)}" for dose, one in (sure or seen).items()])
    if sure:
        yield finding(
            "bad", f"Some doses of padding decide by themselves: {winning}.", *sure.values()
        )
    elif seen:
        text = "There is some evidence that some doses of padding decide by themselves"
        yield finding("unknown", f"{text}{UNSURE}: {winning}.", *seen.values())


def _slot(estimates: Estimates) -> Iterator[Statement]:
    """Kinds of dress beside which the slot decides, although both copies say the same."""
    found = {kind: slot_instead(estimates, kind) for kind in DRESSES}
    seen = {kind: one for kind, one in found.items() if one is not None}
    sure = {
        kind: one for kind, one in seen.items() if surely_below(one, -NOTICEABLE, of=len(DRESSES))
    }
    text = "decides between two copies of a response that differ only in presentation"
    text = f"{text} (pairs that one copy wins twice less pairs that one slot wins twice)"
    each = listed([f"{KIND_WORDS[kind]} {points(one)}" for kind, one in (sure or seen).items()])
    if sure:
        yield finding("bad", f"The slot {text}: {each}.", *sure.values())
    elif seen:
        yield finding(
            "unknown",
            f"There is some evidence that the slot {text}{UNSURE}: {each}.",
            *seen.values(),
        )


def _each(found: Mapping[str, Estimate]) -> str:
    """How much of the choices each dress decides."""
    return listed([f"{KIND_WORDS[kind]} ({_decided(one)})" for kind, one in found.items()])


def _decided(excess: Estimate) -> str:
    text = f"{share(excess)} of pairs beyond noise and slot, {interval(excess)}"
    if of := excess.given:
        text += f"; in both orders the altered copy is chosen in {counted(of['altered'], 'pair')}"
        text += f", the plain one in {of['plain']}"
    return text


def _scores(estimates: Estimates) -> Iterator[Statement]:
    """Points that dress adds to a score, or takes from it."""
    yield from _shifted(estimates, "higher", SCORED)
    yield from _shifted(estimates, "lower", EITHER_WAY)


def _shifted(
    estimates: Estimates, way: Literal["higher", "lower"], kinds: tuple[str, ...]
) -> Iterator[Statement]:
    """The kinds that move scores one way."""
    beyond, surely = (above, surely_above) if way == "higher" else (below, surely_below)
    shifts = {
        kind: shift
        for kind in SCORED
        if (shift := estimates.known("score_shift", kind=kind)) is not None
    }
    seen = {kind: one for kind, one in shifts.items() if kind in kinds and beyond(one, 0.0)}
    sure = {kind: one for kind, one in seen.items() if surely(one, 0.0, len(shifts))}
    each = [
        f"{KIND_WORDS[kind]} {number(one)} ({ends(one)})" for kind, one in (sure or seen).items()
    ]
    text = f"scores the same content {way} because of its presentation"
    if sure:
        yield finding("bad", f"It {text} (points of 1 to 10): {listed(each)}.", *sure.values())
    elif seen:
        yield finding(
            "unknown",
            f"There is some evidence that it {text}{UNSURE}: {listed(each)}.",
            *seen.values(),
        )


def _own_pairs(estimates: Estimates) -> Iterator[Statement]:
    """What length and names do between the user's own responses, beside what people say."""
    longer = estimates.known("longer_preferred")
    if longer is not None and (above(longer, MOSTLY) or below(longer, MOSTLY)):
        held = longer.conditions
        text = "In your own pairs a response twice as long as the other wins"
        yield finding(
            "neutral", f"{text} {share_with_interval(longer)} (adjusted for {held}).", longer
        )
    for dims, excess in estimates.family("own_preference"):
        if above(excess, 0.0) or below(excess, 0.0):
            more = "more" if above(excess, 0.0) else "fewer"
            who = dims.get("system") or f"the family {dims['family']}"
            text = f"It gives {who} {more} wins than people give: {points(excess)}."
            yield finding("neutral", text, excess)


SENTENCES = (
    *(_dress(kind) for kind in DRESSES),
    Sentence(_instruction, tests=3),
    Sentence(_mixed, tests=1),
    Sentence(_of_dose, tests=2),
    Sentence(_slot, tests=1),
    Sentence(_scores, tests=1),
    Sentence(_own_pairs),
    Sentence(_control),
)
"""The sentences of page one."""


# -- advice ----------------------------------------------------------------------------------------


_advice = partial(advice, "presentation")
REMEDIES = {
    LENGTH: "Cut responses to one length before comparing them, or report lengths beside wins",
    FORMAT: "Strip markup from responses before they are judged",
    AUTHORITY: "Remove claims about sources from responses before they are judged",
    CERTAIN: "Do not use it to compare responses that differ in how certain they sound",
}


def recommend(estimates: Estimates) -> Iterator[Recommendation]:
    """What to do about the dress that it prefers, and about notes to it."""
    for kind, won in preferences(estimates).items():
        if surely_above(won, WINS):
            text = f"Do not use it to compare responses that differ in {KIND_WORDS[kind]}"
            yield _advice(f"{text}. {REMEDIES[kind]}.", won, stops=True)
        elif surely_above(won, MOSTLY):
            yield _advice(f"{REMEDIES[kind]}: {KIND_WORDS[kind]} wins.", won)
        elif loses(kind, won):
            yield _advice(f"{REMEDIES[kind]}: {KIND_WORDS[kind]} loses.", won)
        elif kind == LENGTH and (doses := deciding(estimates, OTHER_ERROR)):
            yield _advice(f"{REMEDIES[kind]}: some doses of it decide.", *doses.values())
    yield from _against_notes(estimates)


def _against_notes(estimates: Estimates) -> Iterator[Recommendation]:
    won, obeyed = _notes(estimates)
    if obeys(estimates):
        text = "Check responses for notes to the judge, and mark clearly where each begins and ends"
        stops = above(obeyed, MOSTLY)
        rest = "; do not use it to judge texts that others write" if stops else ""
        yield _advice(f"{text}{rest}.", obeyed, won, stops=stops)


BLIND = ("preference", "dress_excess", "instruction_obeyed", "score_shift")
"""Figures that a judge passes that does not look at what it judges."""


def control(estimates: Estimates) -> Iterator[Control]:
    """Whether the judge sees three missing points, both responses being plain."""
    seen = estimates.known("quality_seen")
    if seen is not None:
        passed = True if above(seen, MOSTLY) else False if below(seen, WINS) else None
        text = (
            "A plain response with all required points must win more than half of the comparisons "
            "with one that lacks three."
        )
        yield Control("missing points are seen", passed, text, (seen.key,), touches=BLIND)


def warn(readings: Readings, estimates: Estimates) -> Iterator[str]:
    """What a reader of this run must know."""
    yield from few_asked(readings, "stimuli")
    so = "no verdict; the figures describe the readable rest, which may differ."
    yield from unread(readings, so)
    yield from _undressed(readings)
    asked: dict[Question, Estimate | None] = {
        "length": padding(estimates),
        "style": estimates.known("preference", kind=FORMAT),
        "own_model": next((one for _, one in estimates.family("own_preference")), None),
    }
    yield from untested({question for question, known in asked.items() if known is not None})
    if readings.frame["repeat"].max() > 0:
        yield from about_repeats(readings)


def _undressed(readings: Readings) -> Iterator[str]:
    """How many stimuli could not be dressed how."""
    frame = readings.frame
    if "undressed" not in frame:
        return
    lacking = not_dressed(frame)
    if counts := {kind: lacking.count(kind) for kind in dict.fromkeys(lacking)}:
        stimuli = frame["stimulus"].nunique()
        kinds = ", ".join(f"{kind} ({count})" for kind, count in counts.items())
        yield (
            f"Some of the {stimuli} stimuli were not altered in every way, because that would have "
            f"changed what they say: {kinds}."
        )


# -- plots -----------------------------------------------------------------------------------------


drawn = Plots()


@drawn.plot(
    kind="intervals",
    title="The same content, presented differently",
    caption="Share of comparisons that the altered copy wins, with 95 % intervals; ties count "
    "half. If only content counts, it stays on the dashed line.",
    families=("preference",),
    x="kind",
    x_label="share of comparisons won",
    reference=0.5,
    reference_label="no preference",
    having={"dose": ""},
    names=True,
    words=KIND_WORDS,
    ends=(0.0, 1.0),
    shows=("preference", "dress_excess"),
    brief="Share of comparisons that the altered copy wins; 50 % is no preference.",
)
def _strongest(estimates: Estimates) -> str:
    """The dress that surely wins, the strongest one."""
    sure = {kind: one for kind, one in preferences(estimates).items() if surely_above(one, MOSTLY)}
    if not sure:
        return ""
    kind = max(sure, key=lambda kind: sure[kind].value or 0.0)
    what = KIND_WORDS[kind]
    return f"{what[0].upper()}{what[1:]} wins {share(sure[kind])} of comparisons"


plots = drawn.of
