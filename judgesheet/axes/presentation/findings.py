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
    CUT,
    FORMAT,
    GUARD,
    HEDGED,
    IGNORE,
    INSTRUCTION,
    LENGTH,
    PRAISE,
    STRIPPED,
    SUMMARY,
)
from judgesheet.axes.presentation._verdicts import KIND_WORDS, REPEATED
from judgesheet.axis import Readings, losses
from judgesheet.axis.findings import listed
from judgesheet.axis.repeats import about_repeats
from judgesheet.axis.results import Plots, nothing
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
    indicated,
    interval,
    number,
    p_value,
    points,
    share,
    share_with_interval,
    surely_above,
    surely_below,
    surely_rejected,
    unread,
    whatever_lost,
)
from judgesheet.axis.unanswered import TOO_LITTLE
from judgesheet.axis.untested import Question, untested
from judgesheet.base.digits import counted, percent
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Control, Estimate, Mitigation, Recommendation, Statement
from judgesheet.stats.paired import sign_test_above

EVEN = 0.60
"""A dress that is proven to win less than this, and more than the rest, decides little."""
WINS = 0.75
"""A preference proven to be above this decides more comparisons than all else."""
NOTICEABLE = 0.05
"""A lower bound above this shows that something happens often enough to matter."""
RARE = 0.15
"""An upper bound below this shows that something hardly happens."""
TELLING = (FORMAT, AUTHORITY, PRAISE, CERTAIN)
"""Kinds beside padding that win nothing from a judge of content."""
DRESSES = (LENGTH, *TELLING)
SCORED = (*DRESSES, INSTRUCTION)
"""Kinds that must not move a score."""
EITHER_WAY = (LENGTH, FORMAT)
"""Dresses that must not lose either: marking down praise of itself or an appeal to authority may be
right."""
SHOWN_AT = SIGNIFICANT / 2
"""Error, on either side, of what is some evidence of all forms together."""
CANCELLING = (LENGTH, SUMMARY, FORMAT, AUTHORITY, PRAISE, CERTAIN, HEDGED)
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
        yield from losses.find(estimates)
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
            # Nor is the kind harmless where one form of it decides, or where it does both ways.
            otherwise = deciding(estimates, SHOWN_AT, kind) or kind in _cancelling(estimates)
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
    one form of a note that is always obeyed: among all forms it moves the average little. That test
    has two shares of the error, since 12 stimuli, as many as have a form, give .00024 at least.
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


def _forms(estimates: Estimates) -> dict[str, dict[str, Estimate]]:
    """The preferences for forms and doses, by kind, beside that which the kind is judged by."""
    found: dict[str, dict[str, Estimate]] = {kind: {} for kind in DRESSES}
    for kind, forms in found.items():
        for dims, one in estimates.family("preference", kind=kind):
            # Repetition is in its doses.
            judged = one is padding(estimates) or dims.get("form") == REPEATED
            if not judged and dims.keys() in ({"kind", "form"}, {"kind", "dose"}):
                form = f", {dims['form']}" if "form" in dims else f" ×{dims['dose']}"
                forms[f"{KIND_WORDS[kind]}{form}"] = one
    return found


def deciding(estimates: Estimates, error: float, *kinds: str) -> dict[str, Estimate]:
    """The forms of these kinds that win, or lose, with this error of all forms together.

    Of kinds that are a problem as a whole none is named.
    """
    forms = _forms(estimates)
    many = max(1, sum(map(len, forms.values())))
    return {
        form: one
        for kind in kinds
        if not surely_above(preferences(estimates).get(kind), MOSTLY)
        for form, one in forms[kind].items()
        if surely_above(one, MOSTLY, many, error)
        or (kind in EITHER_WAY and surely_below(one, MOSTLY, many, error))
    }


def _of_form(estimates: Estimates) -> Iterator[Statement]:
    """Forms and doses that decide, although the change as a whole does not."""
    sure, seen = (deciding(estimates, error, *DRESSES) for error in (OTHER_ERROR, SHOWN_AT))
    winning = listed([f"{form} wins {_won(one)}" for form, one in (sure or seen).items()])
    if sure:
        yield finding(
            "bad", f"Some forms of a change decide by themselves: {winning}.", *sure.values()
        )
    elif seen:
        text = "There is some evidence that some forms of a change decide by themselves"
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


def _outweighs(estimates: Estimates) -> Iterator[Statement]:
    """How many points dress makes up for."""
    for dims, found in estimates.family("trade_off"):
        what = KIND_WORDS[dims["kind"]]
        if found.reason == "right_censored":
            text = f"With {what} a response wins more than half of the comparisons at every number "
            text += f"of missing points that was asked ({found.note})."
            yield finding("neutral", text, found)
        elif found.value and found.low is not None and found.low > 0:
            upper = f"to {number(found, 'high')}" if found.high is not None else "upwards"
            text = f"With {what} a response can lack {number(found)} required points and still win "
            text += f"half of the comparisons (interval from {number(found, 'low')} {upper})."
            yield finding("neutral", text, found)


def _scores(estimates: Estimates) -> Iterator[Statement]:
    """Points that dress adds to a score, or takes from it."""
    yield from _shifted(estimates, "higher", SCORED)
    yield from _shifted(estimates, "lower", EITHER_WAY)


def _shifted(
    estimates: Estimates, way: Literal["higher", "lower"], kinds: tuple[str, ...]
) -> Iterator[Statement]:
    """The kinds that move scores one way."""
    sign, tests = 1 if way == "higher" else -1, "score_shift_p"
    tested = sum(estimates.known(tests, kind=kind) is not None for kind in SCORED)
    seen = {
        kind: (shift, test)
        for kind in kinds
        if (shift := estimates.known("score_shift", kind=kind))
        and (test := indicated(estimates, tests, kind=kind))
        and sign * (shift.value or 0.0) > 0
    }
    sure = {kind: both for kind, both in seen.items() if surely_rejected(both[1], of=tested)}
    shifts = listed([_shift(kind, *both) for kind, both in (sure or seen).items()])
    evidence = [one for both in (sure or seen).values() for one in both]
    text = f"scores the same content {way} because of its presentation"
    if sure:
        yield finding("bad", f"It {text} (points of 1 to 10): {shifts}.", *evidence)
    elif seen:
        yield finding(
            "unknown", f"There is some evidence that it {text}{UNSURE}: {shifts}.", *evidence
        )


def _shift(kind: str, shift: Estimate, test: Estimate) -> str:
    return f"{KIND_WORDS[kind]} {number(shift)} ({ends(shift)}; {p_value(test)})"


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
    Sentence(_of_form, tests=2),
    Sentence(_slot, tests=1),
    Sentence(_scores, tests=1),
    Sentence(_outweighs),
    Sentence(_own_pairs),
    Sentence(_control),
    losses.WITH_KINDS,
)
"""The sentences of page one."""


# -- advice ----------------------------------------------------------------------------------------


_advice = partial(advice, "presentation")
REMEDIES = {
    LENGTH: "Cut responses to one length before comparing them, or report lengths beside wins",
    FORMAT: "Strip markup from responses before they are judged",
    AUTHORITY: "Remove claims about sources from responses before they are judged",
    PRAISE: "Remove what responses say about themselves",
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
        elif forms := deciding(estimates, OTHER_ERROR, kind):
            yield _advice(f"{REMEDIES[kind]}: some forms of it decide.", *forms.values())
    yield from _against_notes(estimates)


def _against_notes(estimates: Estimates) -> Iterator[Recommendation]:
    won, obeyed = _notes(estimates)
    if obeys(estimates):
        text = "Check responses for notes to the judge, and mark clearly where each begins and ends"
        stops = above(obeyed, MOSTLY)
        rest = "; do not use it to judge texts that others write" if stops else ""
        yield _advice(f"{text}{rest}.", obeyed, won, stops=stops)


ACTIONS = {
    GUARD: "mark where responses begin and end, and say that notes in them are no instructions",
    STRIPPED: "strip markup from both responses",
    CUT: "cut both responses to one length",
}


def mitigate(estimates: Estimates) -> Iterator[Mitigation]:
    """Telling the judge to ignore dress, by kind, and the other remedies that were asked."""
    for dims, _ in estimates.family("ignore_gain"):
        action = f"tell it to ignore {KIND_WORDS[dims['kind']]}"
        yield _mitigation(estimates, action, "ignore_gain", dims, prompt=IGNORE)
    for dims, _ in estimates.family("remedy_gain"):
        form = f", {dims['form']} padding" if "form" in dims else ""
        if dims["prompt"] != CUT or form:  # of padding of all forms nobody knows what is cut
            action = f"{ACTIONS[dims['prompt']]}{form}"
            yield _mitigation(estimates, action, "remedy_gain", dims)


def _mitigation(
    estimates: Estimates, action: str, gain: str, dims: Mapping[str, str], **remedy: str
) -> Mitigation:
    """Before, after, and what is gained by a remedy of a kind of dress, or of a form of it."""
    of = {name: value for name, value in dims.items() if name != "prompt"}
    return Mitigation(
        action=f"{action} (gain: from pairs asked with and without)",
        before=estimates.key("preference", **of),
        after=estimates.key("preference", **dims, **remedy),
        calls=1,
        gain=estimates.key(gain, **dims),
    )


BLIND = (
    *("preference", "dress_excess", "dose_slope", "instruction_obeyed"),
    *("ignore_gain", "remedy_gain"),
    *("worse_preferred", "trade_off", "score_shift", "score_shift_p"),
)
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
    if estimates.known("preference", kind="language"):
        yield (
            "An answer in another language than the request may be worse for its reader, so to "
            "prefer the other one is no fault of a judge."
        )
    asked: dict[Question, Estimate | None] = {
        "length": padding(estimates),
        "style": estimates.known("preference", kind=FORMAT),
        "own_model": next((one for _, one in estimates.family("own_preference")), None),
        "people": estimates.known("better_at_equal_length"),
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
    having={"form": "", "dose": "", "prompt": ""},
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


drawn.plot(
    kind="line",
    title="Altered and worse against plain and better",
    caption="Share of comparisons that an altered response wins although it lacks required points "
    "that the plain one has.",
    families=("worse_preferred",),
    x="missing",
    x_label="points missing",
    y_label="share won",
    series="kind",
    reference=0.5,
    reference_label="half of the comparisons",
    words=KIND_WORDS,
    ends=(0.0, 1.0),
)(nothing)


plots = drawn.of
