"""Input that somebody hostile wrote, by class, and what it did."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.hostile.test_secrets import SECRETS
from torture import beyond_runs, inputs
from torture.harm import MINE, Harm, look, state
from torture.inputs import SAID, SIM, SOMEONE, Case, Place, attacks
from torture.page import Table
from torture.processes import judgesheet
from torture.server import Asked, Given, Server, answer, http, meant, serving

CLASSES = {**inputs.CLASSES, **beyond_runs.CLASSES}


def _spiteful(canary: list[str], asked: Asked) -> Given:
    """What the name of the model tells the server to say."""
    said = [*attacks(canary[0]), *SAID][asked.number % (len(SAID) + len(attacks("")))]
    model = str(asked.body["model"])
    if model == "says":
        return answer(asked, said)
    if model == "says-and-decides":
        return answer(asked, f"{said}\n\n{_verdict(asked)}")
    told = f"{dict(asked.headers)} {json.dumps(asked.body)}"
    status = {"parrot-401": 401, "parrot-500": 500, "parrot-429": 429}.get(model, 200)
    if model == "parrot-page":
        return Given([http(f"<html>{told}</html>".encode(), 502, {"Content-Type": "text/html"})])
    if status != 200:
        error = json.dumps({"error": {"message": told}}).encode()
        return Given([http(error, status, {"Retry-After": "7200"})])
    return answer(asked, f"<think>{told}</think>\n[RESULT] 3")


def _verdict(asked: Asked) -> str:
    """A verdict in whichever form the words ask for; the others are no harm beside it."""
    try:
        return f"[RESULT] {meant(asked)}"
    except ZeroDivisionError:
        return '{"winner": "1"}'


def _meet(server: Server, case: Case) -> tuple[Harm, str]:
    """Lay the input, run the commands, and look at what has become of everything around."""
    with TemporaryDirectory(prefix="torture-") as root:
        mine, folder = Path(root) / "mine", Path(root) / "here"
        mine.mkdir()
        folder.mkdir()
        (mine / "keys").write_text(MINE, encoding="utf-8")
        place = Place(folder, mine, server.url, server.url.replace("/v1", "/canary"))
        case.lay(place)
        before, laid = state(mine), state(folder)
        filled = ([_filled(word, place) for word in words] for words in case.commands)
        ended = [judgesheet(*words, env=case.env, here=folder) for words in filled]
        secrets = [*SECRETS] if case.env or _holds_secret(case) else []
        harm = look(ended, laid, folder, state(mine) == before, secrets)
        misused = any(one.code == 2 for one in ended) and not (case.are_hostile or case.code == 2)
        if misused or case.code not in {None, ended[-1].code}:
            harm = replace(harm, tracebacks=harm.tracebacks + 1)
        told = " | ".join(f"{one.code} {one.err[-300:]}" for one in ended)
        return harm, f"{[word[:60] for word in case.commands[-1]]}: {told}"


def _filled(word: str, place: Place) -> str:
    someone = place.judge.replace("//", SOMEONE)
    return word.replace("{judge}", place.judge).replace("{someone}", someone)


def _holds_secret(case: Case) -> bool:
    words = " ".join(word for words in case.commands for word in words)
    return any(secret in words for secret in SECRETS)


def table(fewer: int, jobs: int) -> Table:
    """Inputs by class, and their harm."""
    columns = ["scripts", "requests", "files", "escapes", "tracebacks", "secrets"]
    made = Table(["input", "tried", *columns])
    canary = [""]
    with (
        serving(partial(_spiteful, canary)) as server,
        TemporaryDirectory(prefix="torture-") as folder,
        ThreadPoolExecutor(jobs) as pool,
    ):
        canary[0] = server.url.replace("/v1", "/canary")
        judgesheet(*SIM[:-1], Path(folder) / "run")
        for name, cases in CLASSES.items():
            chosen = list(cases(Path(folder) / "run"))[::fewer]
            server.others.clear()
            harms = list(pool.map(partial(_meet, server), chosen))
            sums = {f.name: sum(getattr(harm, f.name) for harm, _ in harms) for f in fields(Harm)}
            made.add(
                name,
                sum(case.inputs for case in chosen),
                made.nought(sums["scripts"]),
                made.nought(len(server.others)),
                *(
                    made.nought(sums[part])
                    for part in ("outside", "escapes", "tracebacks", "secrets")
                ),
            )
            made.notes += [f"{name}: {harm} {told}" for harm, told in harms if harm != Harm()]
            made.notes += [f"{name}: fetched {line}" for line in server.others]
    tried = sum(int(row[1].replace(",", "")) for row in made.rows)
    made.after = f"Inputs in all: {tried:,}."
    return made
