"""The files of a batch API, out with the calls and back with their results."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from json import dumps
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from judgesheet.base.errors import OtherRunError, RunError, StimuliError
from judgesheet.base.files import records, write_lines
from judgesheet.base.limits import LONGEST_DOCUMENT
from judgesheet.base.prices import Prices
from judgesheet.base.records import BATCH, END_OF_TIME, SETTLING, Call, Plan, Reply, digest
from judgesheet.judges import Refused
from judgesheet.judges.batch_formats import BatchFormat, read_result
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import is_begun

AT_ONCE = 1000
"""Replies written in one transaction."""

# -- out -------------------------------------------------------------------------------------------


class Rest(NamedTuple):
    """What a run has to ask, and the parameters that its endpoint refuses.

    `left_out` calls more have no answer, and are not asked before a look needs them.
    """

    calls: Sequence[Call]
    refused: Refused
    left_out: int = 0


def unanswered(plan: Plan, ledger_path: Path, model: str, extra_body: Mapping[str, Any]) -> Rest:
    """What is left to ask of a plan; OtherRunError if the run is that of another plan or judge."""
    with Ledger.open(ledger_path) as ledger:
        if other := _another(ledger, plan, model, extra_body):
            raise OtherRunError(
                f"{ledger_path} holds the replies to {other}: give the options of its plan, or "
                "leave out --resume"
            )
        calls = [one.call for one in ledger.pending()]
        return Rest(calls, ledger.refused_parameters, len(ledger.left_out))


def _another(ledger: Ledger, plan: Plan, model: str, extra_body: Mapping[str, Any]) -> str:
    """Which other judge or plan a ledger belongs to, however that was asked; "" if to these."""
    if ledger.judge_name != model:
        return f"another judge ({ledger.judge_name})"
    asked = {"extra_body": extra_body} if "extra_body" in ledger.judge else {}
    return ledger.another(plan, {**ledger.judge, **asked})


def keep_plan(
    plan: Plan, path: Path, model: str, extra_body: Mapping[str, Any], prices: Prices | None
) -> None:
    """Write the plan of a batch as a ledger without replies, in the place of any other such plan.

    A ledger with replies to this plan keeps them. OtherRunError if they are those to another.
    """
    if is_begun(path):
        with Ledger.open(path) as ledger:
            was_asked, other = ledger.was_asked, _another(ledger, plan, model, extra_body)
        if other and was_asked:
            raise OtherRunError(f"{path} holds the replies to {other}: choose another --out")
        if was_asked:
            with Ledger.open(path, writable=True) as ledger:
                ledger.follow_facts(plan)
            return
        path.unlink()
    judge = {"provider": BATCH, "model": model, "extra_body": extra_body}
    with Ledger.create_or_open(path, plan, judge) as ledger:
        ledger.set_meta("prices", prices)


def export(
    calls: Iterable[Call],
    request_of: Callable[[Call], Mapping[str, Any]],
    form: BatchFormat,
    path: Path,
) -> Iterator[tuple[Path, int]]:
    """Write the requests of calls into as many files as the limits of their format ask for.

    They are called `batch.jsonl`, `batch-2.jsonl` and so on; each is given with the number of its
    requests once it is written.
    """
    requests = (dumps(request_of(call), ensure_ascii=False) for call in calls)
    for number, share in enumerate(_shares(requests, form), start=1):
        file = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        write_lines(file, form.lines(share))
        yield file, len(share)


def _shares(requests: Iterable[str], form: BatchFormat) -> Iterator[list[str]]:
    """The requests of one file after the other."""
    most = inf if form.most_bytes is None else form.most_bytes
    frame = len(form.opening) + len(form.closing) + 2  # and their line ends
    share: list[str] = []
    size = frame
    for request in requests:
        more = len(request.encode("utf-8", "backslashreplace")) + len(form.between) + 1
        if frame + more > most:
            raise RunError(
                f"a request has {more:,} bytes, and a file of this format holds {most:,}: shorten "
                "the stimuli"
            )
        if share and (len(share) == form.most_requests or size + more > most):
            yield share
            share, size = [], frame
        share.append(request)
        size += more
    if share:
        yield share


# -- back ------------------------------------------------------------------------------------------


def ingest_results(files: Sequence[Path], ledger_path: Path) -> None:
    """Record the results of a run, which may be a plan that nothing was asked of so far.

    What failed stays pending and can be asked again. StimuliError where a line cannot be read,
    belongs to no call, or answers one differently from before; nothing is recorded then.
    """
    if not is_begun(ledger_path):
        raise RunError(
            f"{ledger_path} does not exist; a batch needs the plan it was made from: "
            f"`judgesheet plan … --export-batch FILE --out {ledger_path.with_name('plan.jsonl')}`"
        )
    with Ledger.open(ledger_path, writable=True) as ledger:
        _record(files, _checked(files, _standing(ledger), frozenset(ledger.left_out)), ledger)


def fill(ledger: Ledger, replies: Iterable[Reply]) -> None:
    """Record replies to pending calls, each as a further attempt; the first answer settles one."""
    made = ledger.attempts()
    some: list[Reply] = []
    for reply in replies:
        if reply.call_id not in made:
            continue
        made[reply.call_id] = attempt = made[reply.call_id] + 1
        some.append(reply if reply.attempt == attempt else replace(reply, attempt=attempt))
        # What comes later for a settled call is no attempt any more.
        if reply.outcome in SETTLING:
            del made[reply.call_id]
        if len(some) >= AT_ONCE:
            ledger.record(some)
            some = []
    ledger.record(some)


def _standing(ledger: Ledger) -> dict[str, str | None]:
    """The calls of a run, each with the digest of the answer that settled it, None without one."""
    pending = {one.call.id for one in ledger.pending()}
    return {
        key: None if key in pending or outcome not in SETTLING else digest(f"{outcome} {text}")
        for key, *_, outcome, text, _, _ in ledger.answers()
    }


def _checked(
    files: Iterable[Path], standing: dict[str, str | None], waiting: Collection[str]
) -> dict[str, str | None]:
    """The same after these results; of answers, only the digests are held in memory."""
    for reply, where in _replies(files):
        if reply.call_id in waiting:
            raise StimuliError(
                f"{where}: this question is not part of the run until its policy needs it; "
                "export what it asks "
                "with `judgesheet plan --resume`, or continue with --until-decided first"
            )
        if reply.call_id not in standing:
            raise StimuliError(f"{where}: custom_id is not in the plan; is --out its folder?")
        if reply.outcome in SETTLING:
            answer = digest(f"{reply.outcome} {reply.text}")
            if (standing[reply.call_id] or answer) != answer:
                raise StimuliError(
                    f"{where}: {reply.call_id} was answered before, and differently; keep the "
                    "line that should count"
                )
            standing[reply.call_id] = answer
    return standing


def _record(files: Sequence[Path], answers: Mapping[str, str | None], ledger: Ledger) -> None:
    """Record the results; the failures of a file that was recorded before are known already."""
    if given_up := ledger.get_meta("given_up", []):
        ledger.set_meta("given_up", [key for key in given_up if answers.get(key) is None])
    before = ledger.get_meta("batches", [])
    known = [batch.get("digest") for batch in before]
    given = {_sha256(file): file for file in files}
    news = {sha: file for sha, file in given.items() if sha not in known}
    # An error never takes the place of an answer, whichever line or file came first.
    failed = (one for one, _ in _replies(news.values()) if one.outcome not in SETTLING)
    settled = (one for one, _ in _replies(given.values()) if one.outcome in SETTLING)
    fill(ledger, chain(failed, settled))
    named = [{"file": file.name, "digest": sha} for sha, file in news.items()]
    ledger.set_meta("batches", [*before, *named])


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _replies(files: Iterable[Path]) -> Iterator[tuple[Reply, str]]:
    """(reply, `file:line`) of every line of result files."""
    for file in files:
        for record, where in records(file, LONGEST_DOCUMENT):
            result = read_result(record)
            if result is None:
                raise StimuliError(
                    f"{where}: this is not a result of a batch; give the file that came back, "
                    "not the one that was sent"
                )
            # Where a result has no time, that of its file comes nearest.
            created = result.created
            at = created if created and 0 < created < END_OF_TIME else file.stat().st_mtime
            # Attempts are counted when it is recorded.
            yield result.answer.as_reply(str(record.get("custom_id")), 1, 0.0, float(at)), where
