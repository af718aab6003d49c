"""Every provider of a judge `PROVIDER/NAME`; a new provider is one more row.

Addresses and variables are those of the providers' own documentation; docs/judges.md prints them.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, Self

from judgesheet.base.errors import UsageError
from judgesheet.base.records import ReplyFormat

DialectName = Literal["compatible", "openai", "azure", "anthropic"]
BatchName = Literal["openai", "anthropic", "vllm"]
"""The formats of batch files; see `judges.batch_formats`."""


@dataclass(frozen=True, slots=True)
class Provider:
    """What is known about a provider's judges before one is opened.

    `reply` and `logprobs` are what they are asked for unless the user says otherwise. `base_url` is
    the usual address, which the variable `url_env` replaces where the provider has one; `url_path`
    follows an address that has no path. `key_env` names the variable with the key, which must be
    set where it `needs_key`. `batch` is the format of batch files that it takes, `note` what a user
    should know of its API.
    """

    reply: ReplyFormat = "text"
    logprobs: bool = False
    has_logprobs: bool = True
    base_url: str = ""
    url_env: str = ""
    url_path: str = "/v1"
    key_env: str = ""
    needs_key: bool = True
    dialect: DialectName = "compatible"
    batch: BatchName = "openai"
    note: str = ""


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(
        base_url="https://api.openai.com/v1", url_env="OPENAI_BASE_URL", key_env="OPENAI_API_KEY",
        dialect="openai", note="reasoning models refuse a temperature",
    ),
    "anthropic": Provider(
        base_url="https://api.anthropic.com/v1", key_env="ANTHROPIC_API_KEY", has_logprobs=False,
        dialect="anthropic", batch="anthropic",
        note="newer models refuse a temperature; there is no seed",
    ),
    "azure": Provider(
        url_env="AZURE_OPENAI_ENDPOINT", url_path="/openai/v1", key_env="AZURE_OPENAI_API_KEY",
        dialect="azure", note="NAME is that of the deployment",
    ),
    "bedrock": Provider(
        url_env="AWS_BEDROCK_BASE_URL", url_path="/openai/v1", key_env="AWS_BEARER_TOKEN_BEDROCK",
        note="only models of its OpenAI-compatible address, "
        "such as `https://bedrock-runtime.us-west-2.amazonaws.com`",
    ),
    "google": Provider(
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_env="GEMINI_API_KEY", note="its OpenAI-compatible address",
    ),
    "mistral": Provider(
        base_url="https://api.mistral.ai/v1", key_env="MISTRAL_API_KEY",
        note="a seed is called `random_seed` there",
    ),
    "groq": Provider(
        base_url="https://api.groq.com/openai/v1", key_env="GROQ_API_KEY", has_logprobs=False,
        note="a temperature of 0 becomes 1e-8",
    ),
    "together": Provider(base_url="https://api.together.ai/v1", key_env="TOGETHER_API_KEY"),
    "fireworks": Provider(
        base_url="https://api.fireworks.ai/inference/v1", key_env="FIREWORKS_API_KEY",
        note="NAME begins with `accounts/`",
    ),
    "deepseek": Provider(base_url="https://api.deepseek.com/v1", key_env="DEEPSEEK_API_KEY"),
    "openrouter": Provider(
        base_url="https://openrouter.ai/api/v1", key_env="OPENROUTER_API_KEY",
        note="several hosts may answer under one name: pin one with `--extra-body`",
    ),
    "xai": Provider(base_url="https://api.x.ai/v1", key_env="XAI_API_KEY"),
    "ollama": Provider(base_url="http://localhost:11434/v1"),
    "vllm": Provider(
        base_url="http://localhost:8000/v1", key_env="VLLM_API_KEY", needs_key=False, batch="vllm"
    ),
    "llama.cpp": Provider(
        base_url="http://localhost:8080/v1", key_env="LLAMA_API_KEY", needs_key=False
    ),
    "lm-studio": Provider(base_url="http://localhost:1234/v1"),
    "tgi": Provider(base_url="http://localhost:8080/v1"),
    "openai-compatible": Provider(note="any server, with `--base-url` and `--api-key-env`"),
    "litellm": Provider(),  # LiteLLM knows the rest
    # Small models follow an answer format only where the decoding is constrained to it. A local one
    # gives log-probabilities for nothing; some hosted ones refuse a request that asks for them.
    "local": Provider(reply="json", logprobs=True),
    "sim": Provider(reply="json"),
    "python": Provider(has_logprobs=False),
}  # fmt: skip

_NO_ADDRESS = {"litellm", "local", "sim", "python"}
BEHIND_HTTP = tuple(name for name in PROVIDERS if name not in _NO_ADDRESS)
"""Providers whose judges we ask over the network ourselves."""


_KEY = re.compile(r"(sk|gsk|rk|pk)[-_].{8,}|(hf_|xai-|AIza).{20,}|eyJ.{40,}")
"""How the keys of providers begin, which no model's name does."""


def refuse_key(model: str) -> None:
    """UsageError, which does not repeat it, if a key stands in the place of a judge's name."""
    keys = {os.environ.get(known.key_env) for known in PROVIDERS.values() if known.key_env}
    parts = {model, *model.split("/")}
    if any(_KEY.fullmatch(part) or (len(part) >= 8 and part in keys) for part in parts):
        raise UsageError(
            "--model takes PROVIDER/NAME, and this looks like a key: name the model there, and set "
            "the key in the variable of its provider, or in one that --api-key-env names"
        )


@dataclass(frozen=True, slots=True)
class JudgeRef:
    """A judge as its user names it, `PROVIDER/NAME`: nothing else takes such a name apart."""

    provider: str
    name: str

    @classmethod
    def parse(cls, model: str) -> Self:
        """The judge of this name; UsageError if none can have it."""
        refuse_key(model)
        provider, slash, name = model.partition("/")
        if provider not in PROVIDERS:
            near = get_close_matches(provider.lower(), PROVIDERS)
            nearest = " or ".join(f"{one}/…" for one in near or ["openai-compatible"])
            hint = f"did you mean {nearest}?"
            if not (slash or near):
                hint = f"a judge is PROVIDER/NAME, such as openai/{model};"
            raise UsageError(f"there is no judge {model!r}: {hint} docs/judges.md lists them all")
        if not name:
            raise UsageError(f"there is no judge {model!r}: name a model, {provider}/NAME")
        return cls(provider, name)

    @property
    def about(self) -> Provider:
        """What is known about its provider."""
        return PROVIDERS[self.provider]

    @property
    def is_behind_http(self) -> bool:
        """Whether we ask it over the network ourselves."""
        return self.provider in BEHIND_HTTP

    @property
    def in_runs(self) -> str:
        """Its name as a run keeps it: a model in a file without its folder."""
        name = self.name.rpartition("/")[2] if self.provider == "local" else self.name
        return f"{self.provider}/{name}"

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"
