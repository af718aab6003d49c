"""The request of a user, and how it is settled: axes, reply format, parsers, the plan.

A request may leave the reply format and the log-probabilities to the endpoint (`auto`). `settle`
decides these, with a few tiny questions; `make_plan` makes no call.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Axis, Options
from judgesheet.base.arguments import checked
from judgesheet.base.async_runner import run
from judgesheet.base.errors import UsageError
from judgesheet.base.files import text_of
from judgesheet.base.records import Plan, ReplyFormat
from judgesheet.base.resources import is_shipped
from judgesheet.collect.collect import CollectSettings
from judgesheet.collect.options import Request
from judgesheet.collect.sweep import parse_sweep, typed
from judgesheet.judges import Connection, Judge, declared, open_judge
from judgesheet.judges.check import gives_logprobs, needs_json
from judgesheet.judges.simulated import answer_key
from judgesheet.judges.user_code import name_of
from judgesheet.ledger.run_directory import labels_of, settings_of
from judgesheet.measuring.parsing import Parser, as_record, refuse_failing_examples
from judgesheet.planning import plan as planning
from judgesheet.planning.anchors import WITHOUT, with_anchors

Part = TypeVar("Part", Options, Connection, CollectSettings)
T = TypeVar("T")

_OWN_NUMBERS = ("repeats", "max_tokens", "retry_unreadable")
"""Fields of a request that are settings of its plan where the user named them."""

OURS = ("messages", "model", "n", "temperature")
"""Fields of a request that the plan and the options set."""


JudgeOrRequest = str | Callable[..., Any] | Request
"""What functions take for the judge: `PROVIDER/NAME`, a function of the user's, or a request."""


def with_swept_value(request: Request) -> Request:
    """The request under the one value that its sweep names, if any.

    What is not an option goes into the request body. Where the endpoint refuses the parameter, the
    run stops: without it, all values would ask the same. UsageError if the sweep has more values.
    """
    if request.sweep is None:
        return request
    swept = parse_sweep(request.sweep)
    if len(swept.values) > 1:
        raise UsageError("several values are several runs: ask them with judgesheet.sweep")
    (value,) = swept.values
    request = replace(request, must_send=(swept.name,))
    if swept.name == "temperature":
        return replace(request, temperature=float(value))
    if swept.name == "max_tokens":
        return replace(request, max_tokens=int(value))
    return replace(request, extra_body={**request.extra_body, swept.name: typed(value)})


@dataclass(frozen=True, slots=True)
class Settled:
    """A request in which nothing is left to decide."""

    axes: Sequence[Axis]
    parsers: Mapping[str, Parser]
    """The user's own, by axis."""
    reply: ReplyFormat
    logprobs: bool


def as_request(model: JudgeOrRequest, options: Mapping[str, Any]) -> Request:
    """The request of a command: the one given, or one for this model or function."""
    options = checked(Request, options)
    if isinstance(model, Request):
        return replace(model, **options)
    if callable(model):
        model = f"python/{name_of(model)}"
    return Request(model, **options)


def without_asking(request: Request) -> Request:
    """The request with its judge's usual protocol in place of `auto`, so that no call is needed."""
    return replace(
        request,
        reply=None if request.reply == "auto" else request.reply,
        logprobs=False if request.logprobs == "auto" else request.logprobs,
    )


def prepare(request: Request, directory: Path, *, fresh: bool) -> tuple[Judge, Plan]:
    """The judge and the plan of a run that is started, or resumed, in `directory`."""
    planned = make_plan(request, settle(request, None if fresh else directory))
    labels = planned.labels
    # Only a simulated judge is given the labels: those of the questions that it will be asked.
    if request.judge.provider == "sim" and not fresh:
        labels = labels_of(directory) or labels
    return open_judge(request.model, connection(request), answer_key(labels)), planned


def refuse_unaskable(judge: Judge | None, axes: Iterable[str]) -> None:
    """UsageError for axes on which a judge does not show its model the order that it is given."""
    lacking = [name for name in axes if judge and judge.axes and name not in judge.axes]
    if judge and lacking:
        can = " ".join(f"--axis {name}" for name in judge.axes)
        raise UsageError(
            f"{judge.identity['model']} cannot be asked about {', '.join(lacking)}: give {can}"
            + (f" ({judge.note})" if judge.note else "")
        )


# -- settling it -----------------------------------------------------------------------------------


def settle(request: Request, resumed: Path | None = None) -> Settled:
    """Settle each `auto` as the run that is `resumed` did, else by asking the endpoint.

    UsageError if an axis does not exist, or a parser is given for one that is not asked about.
    """
    judge = request.judge
    declaration = declared(judge)
    named = request.axes or (declaration and declaration.axes) or all_axes()
    axes = [get_axis(name) for name in dict.fromkeys(named)]
    _refuse_what_is_ours(request.extra_body)
    parsers = _own_parsers(request, axes)
    reply = request.reply or judge.about.reply
    logprobs = judge.about.logprobs if request.logprobs is None else request.logprobs
    # Parsers of the user's own read text, so no probe call is needed.
    if reply == "auto" and all(axis.NAME in parsers for axis in axes):
        reply = "text"
    # A resumed run asks as it began, whatever the endpoint can do today.
    earlier = settings_of(resumed) if resumed and "auto" in (reply, logprobs) else {}
    if reply == "auto":
        reply = earlier.get("reply") or ("json" if _try_endpoint(request, needs_json) else "text")
    if logprobs == "auto":
        used = earlier.get("logprobs")
        logprobs = _try_endpoint(request, gives_logprobs) if used is None else bool(used)
    return Settled(axes, parsers, "json" if reply == "json" else "text", logprobs)


def make_plan(request: Request, settled: Settled) -> Plan:
    """Every call, with what a datasheet must know of how it was planned.

    JudgesheetError if stimuli, prompts or parsers cannot be used.
    """
    if settled.logprobs and not request.judge.about.has_logprobs:
        raise UsageError(f"{request.model} gives no log-probabilities: leave --logprobs out")
    refuse_unaskable(declared(request.judge), [axis.NAME for axis in settled.axes])
    options = axis_options(request, settled)
    planned = planning.make_plan(settled.axes, options, request.seed, request.stimuli)
    if request.profile not in WITHOUT:
        planned = with_anchors(planned, settled.axes)
    for name, parser in settled.parsers.items():
        cell = next(call.cell for call in planned.calls if call.axis == name)
        refuse_failing_examples(parser, get_axis(name), cell)
    own = [as_record(name, parser) for name, parser in sorted(settled.parsers.items())]
    settings = {
        "profile": request.profile,
        "axes": [axis.NAME for axis in settled.axes],
        "reply": "json" if any(chosen.reply == "json" for chosen in options.values()) else "text",
        "logprobs": settled.logprobs,
        "temperature": request.temperature,
        "sequences": request.sequences,
        **({"sweep": asdict(parse_sweep(request.sweep))} if request.sweep else {}),
        **{name: number for name in _OWN_NUMBERS if (number := getattr(request, name))},
    }
    known = {
        "settings": settings,
        **({"parsers": own} if own else {}),
        **({} if request.axes else {"all_axes": True}),
    }
    return replace(planned, provenance={**planned.provenance, **known})


def axis_options(request: Request, settled: Settled) -> dict[str, Options]:
    """What the user chose, per axis.

    UsageError if a prompt is given for an axis that is not asked about, or cannot be read.
    """
    _refuse_unprobed("--prompt", request.prompts, settled.axes)
    return {axis.NAME: _options(request, settled, axis.NAME) for axis in settled.axes}


def _options(request: Request, settled: Settled, axis: str) -> Options:
    # A reply format of the user's own is replaced by JSON only if they say so, and only their
    # parser knows where its score is.
    is_free = axis in settled.parsers and request.reply != "json"
    own = request.prompts.get(axis)
    return _part(
        Options,
        request,
        reply="text" if is_free else settled.reply,
        template=text_of(own, "the prompt template", UsageError) if own else None,
        logprobs=settled.logprobs and not is_free,
    )


def connection(request: Request) -> Connection:
    """How to reach the endpoint."""
    return _part(Connection, request)


def collect_settings(request: Request) -> CollectSettings:
    """Concurrency, rate, retries, and when to stop."""
    return _part(CollectSettings, request)


def _part(kind: type[Part], request: Request, **others: Any) -> Part:
    """A record with the request's values in its fields of the same name."""
    names = {part.name for part in fields(kind)} & {part.name for part in fields(request)}
    return kind(**{name: getattr(request, name) for name in names} | others)


def parsers_beside(request: Request) -> dict[str, Path]:
    """The parsers that lie beside a prompt as FILE.toml, by axis."""
    beside = {axis: _beside(path) for axis, path in request.prompts.items()}
    return {axis: path for axis, path in beside.items() if path.is_file()}


def _beside(prompt: Path) -> Path:
    return prompt.parent / f"{prompt.stem}.toml"  # a folder may have no name: "."


def prompts_without_parser(request: Request) -> Iterator[str]:
    """A sentence for each prompt of the user's whose replies are read as a built-in one's."""
    for axis in request.prompts.keys() - parsers_beside(request).keys() - request.parsers.keys():
        path = request.prompts[axis]
        if is_shipped(path.name):
            continue
        beside = _beside(path).name
        yield (
            f"{path} has no parser of its own (no --parser, and no {beside} beside it): its replies"
            " are read as those to the built-in prompt"
        )


def _own_parsers(request: Request, axes: Sequence[Axis]) -> dict[str, Parser]:
    """The user's own parsers: those named, and those that lie beside a prompt as FILE.toml."""
    paths = {**parsers_beside(request), **request.parsers}
    _refuse_unprobed("--parser", paths, axes)
    return {axis: Parser.named(path) for axis, path in paths.items()}


def _refuse_what_is_ours(extra_body: Mapping[str, Any]) -> None:
    """UsageError for fields that would replace what the plan decides."""
    ours = [name for name in OURS if name in extra_body]
    if ours:
        raise UsageError(
            f"--extra-body must not set {', '.join(ours)}: the plan says what is asked of which "
            "model; leave it out (temperature has an option of its own)"
        )


def _refuse_unprobed(option: str, named: Mapping[str, Any], axes: Sequence[Axis]) -> None:
    unknown = set(named) - {axis.NAME for axis in axes}
    if unknown:
        raise UsageError(f"{option} names {', '.join(sorted(unknown))}, which is not probed")


def _try_endpoint(request: Request, can: Callable[[Judge], Awaitable[bool]]) -> bool:
    """Send the endpoint a tiny question that shows whether it can do something.

    UsageError where requests, tokens or money are limited: the ledger does not count this one.
    """
    for name in ("max_calls", "max_cost", "max_total_tokens"):
        if getattr(request, name) is not None:
            raise UsageError(
                f"auto would ask the endpoint a question outside the limit of "
                f"--{name.replace('_', '-')}: choose --reply text or json, and --logprobs on or off"
            )

    return ask_outside_plan(request, can)


def ask_outside_plan(request: Request, put: Callable[[Judge], Awaitable[T]]) -> T:
    """The judge's answer to a question that is outside the plan, and so not in the ledger."""

    async def ask() -> T:
        async with open_judge(request.model, connection(request)) as judge:
            return await put(judge)

    return run(ask)
