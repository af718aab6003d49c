"""The options of a probe, each declared once: type and allowed values, default, and what it means.

The options of the command line are made of this (`commands.options`), the checks of what is given
from Python, and the table of docs/api.md.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Interval

from judgesheet.axes import axis_names
from judgesheet.axis import PROFILES
from judgesheet.base import defaults
from judgesheet.base.arguments import Said, checked
from judgesheet.base.errors import UsageError
from judgesheet.base.prices import Prices
from judgesheet.base.resources import prompt_file
from judgesheet.judges.providers import JudgeRef

if TYPE_CHECKING:
    from judgesheet.judges import OwnAuth, OwnTransport


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask of which judge. The defaults are those of every command.

    Paths may be given as text: they are kept as `Path`.
    """

    # fmt: off
    model: Annotated[str, Said(
        "openai/NAME, anthropic/NAME or another provider's (docs/judges.md), "
        "openai-compatible/NAME (with --base-url), local/smollm2-135m, local/FILE.gguf, "
        "sim/NAME?key=value, python/module:function (a judge of a framework: docs/frameworks.md).",
        metavar="PROVIDER/NAME")]
    axes: Annotated[Sequence[str], Said(
        f"Axis to probe; repeatable: {', '.join(axis_names())}. [all]", "--axis", metavar="AXIS",
        )] = ()
    profile: Annotated[str, Said(
        "How much to ask; `judgesheet plan` says how many calls.")] = defaults.PROFILE
    stimuli: Annotated[Path | None, Said("Your own stimuli (JSONL file, or a folder).")] = None
    prompts: Annotated[Mapping[str, Path], Said(
        "Your own prompt template.", "--prompt", metavar="[AXIS=]FILE",
        )] = field(default_factory=dict)
    parsers: Annotated[Mapping[str, Path], Said(
        "Your own parser of the replies: a file, or module:function. [FILE.toml beside --prompt]",
        "--parser", metavar="[AXIS=]FILE")] = field(default_factory=dict)
    seed: Annotated[int, Interval(ge=0), Said("Seed of every random choice.")] = defaults.SEED
    repeats: Annotated[Annotated[int, Interval(ge=1, le=100)] | None, Said(
        "How often a repeated question is asked. [by axis and profile: 2, or 1 in quick]")] = None
    sequences: Annotated[Literal["cyclic", "williams"], Said(
        "Balanced orders: rotations, as in the papers, or Williams designs.",
        "--sequences", "--design")] = defaults.SEQUENCES
    temperature: Annotated[float, Interval(ge=0, le=5), Said(
        "Sampling temperature.")] = defaults.TEMPERATURE
    sweep: Annotated[str | None, Said(
        "Probe with each value of a request parameter, each in its own folder.",
        metavar="NAME=V,V,…")] = None
    max_tokens: Annotated[Annotated[int, Interval(ge=1)] | None, Said(
        "Maximum tokens per reply. [1024 text, 32 json]")] = None
    retry_unreadable: Annotated[int, Interval(ge=0, le=10), Said(
        "Ask again up to N times where a reply cannot be read; the sheet has both rates.",
        metavar="N")] = 0
    reply: Annotated[Literal["auto", "text", "json"] | None, Said(
        "Reply format; auto: json if only that form works. [text; json for local/, sim/]")] = None
    logprobs: Annotated[bool | Literal["auto"] | None, Said(
        "Also read the probabilities of all scores; auto asks once. [off; on for local/]")] = None
    base_url: Annotated[str | None, Said("Address of an OpenAI-compatible server.")] = None
    api_key_env: Annotated[str | None, Said(
        "Environment variable with the key.", metavar="NAME")] = None
    auth: Annotated["OwnAuth | None", Said(
        "Your own function that makes an httpx.Auth or a transport (docs/corporate.md).",
        metavar="MODULE:FACTORY")] = field(default=None, repr=False)
    transport: Annotated["OwnTransport | None", Said(
        "Your own httpx transport.", "")] = field(default=None, repr=False)
    extra_body: Annotated[Mapping[str, Any], Said(
        "Merged into every request.", metavar="JSON")] = field(default_factory=dict)
    must_send: Annotated[tuple[str, ...], Said("Parameters that are never left out.", "")] = ()
    timeout_s: Annotated[float, Interval(ge=0.1), Said(
        "Seconds per call.", "--timeout")] = defaults.TIMEOUT_S
    concurrency: Annotated[int, Interval(ge=1, le=4096), Said(
        "Maximum concurrent calls (adaptive).")] = defaults.CONCURRENCY
    patience_s: Annotated[float, Interval(ge=0), Said(
        "Seconds to wait for an endpoint that is down before the run stops.",
        "--patience")] = defaults.PATIENCE_S
    rpm: Annotated[Annotated[float, Interval(gt=0)] | None, Said("Requests per minute.")] = None
    tpm: Annotated[Annotated[float, Interval(gt=0)] | None, Said(
        "Tokens per minute, prompts and replies.")] = None
    rate: Annotated[Annotated[float, Interval(gt=0)] | None, Said("Requests per second.")] = None
    max_calls: Annotated[Annotated[int, Interval(ge=1)] | None, Said(
        "Stop after this many requests in this session.")] = None
    max_cost: Annotated[Annotated[float, Interval(ge=0)] | None, Said(
        "Stop at this cost of the run, US dollars.")] = None
    max_total_tokens: Annotated[Annotated[int, Interval(ge=0)] | None, Said(
        "Stop at this many tokens of the run, prompts and replies.")] = None
    overflow: Annotated[Path | None, Said(
        "Folder for replies if the disk of the run is full. [temporary folder]",
        metavar="DIR")] = None
    prices: Annotated[Prices | None, Said(
        "US dollars per million tokens.", metavar="IN,OUT")] = None
    engine: Annotated[Literal["local", "ray"], Said(
        "Ask from this process, or from the workers of a Ray cluster.")] = defaults.ENGINE
    engine_address: Annotated[str | None, Said(
        "The Ray cluster, HOST:PORT or auto. [one on this machine, for this probe]",
        metavar="ADDRESS")] = None
    # fmt: on

    def __post_init__(self) -> None:
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        for name, value in checked(Request, given).items():
            object.__setattr__(self, name, value)
        if self.profile not in PROFILES:
            raise UsageError(
                f"there is no profile {self.profile!r}; the profiles are {', '.join(PROFILES)}"
            )
        for name in ("prompts", "parsers"):
            object.__setattr__(self, name, self._by_axis(name))
        _refuse_what_json_lacks(self.extra_body)
        if self.max_cost is not None and self.prices is None:
            raise UsageError("--max-cost needs --prices IN,OUT (US dollars per million tokens)")
        if self.engine_address is not None and self.engine == "local":
            raise UsageError("--engine-address needs --engine ray")

    @property
    def judge(self) -> JudgeRef:
        """The judge that `model` names; UsageError if none can have that name."""
        return JudgeRef.parse(self.model)

    def _by_axis(self, name: str) -> dict[str, Path]:
        """Files by axis; one that names none is for the one axis that is asked about."""
        files: dict[str, Path] = dict(getattr(self, name))
        if "" in files:
            if len({*self.axes}) != 1:
                option = f"--{name.removesuffix('s')}"
                raise UsageError(
                    f"{option} {files['']}: for which axis? Write {option} AXIS={files['']}, or "
                    "name one --axis"
                )
            files.setdefault(self.axes[0], files.pop(""))
        if name == "prompts":
            return {axis: prompt_file(Path(file)) for axis, file in files.items()}
        return files


def _refuse_what_json_lacks(sent: Mapping[str, Any]) -> None:
    """NaN and infinity, which no JSON has: NaN is not even what the run was begun with."""
    try:
        json.dumps(sent, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"--extra-body must be valid JSON ({error}): give finite numbers"
        ) from None
