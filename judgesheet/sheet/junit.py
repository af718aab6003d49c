"""`datasheet.junit.xml`: the verdicts as test cases, for continuous integration.

A broken limit is a failure, one that is not proven an error, or skipped where the policy only
warns. The form is the one of Ant's JUnit report, which GitLab, Jenkins and GitHub actions read.
"""

from collections import Counter
from datetime import UTC
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from judgesheet.base.datasheet import to_json
from judgesheet.base.errors import UsageError
from judgesheet.base.keys import Key
from judgesheet.base.records import Datasheet, Verdict, digest
from judgesheet.sheet import Paper, show

SUFFIX = "junit.xml"
_NO_TIME = "1970-01-01T00:00:00"


def render(sheet: Datasheet, _paper: Paper) -> bytes:
    """The verdicts of a sheet as one test suite.

    UsageError if the sheet carries no verdict.
    """
    if not sheet.verdicts:
        raise UsageError(
            "the datasheet carries no verdicts; `judgesheet gate … --policy P --junit FILE` "
            "makes them, or `judgesheet measure DIR --policy P`"
        )
    root = Element("testsuites")
    suite = SubElement(root, "testsuite", _head(sheet))
    properties = SubElement(suite, "properties")
    for name, value in _properties(sheet).items():
        SubElement(properties, "property", name=name, value=_text(value))
    for verdict in sheet.verdicts:
        _case(suite, verdict)
    SubElement(suite, "system-out").text = _text(sheet.decision.text if sheet.decision else "")
    SubElement(suite, "system-err").text = ""
    indent(root)
    body = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'.encode()


def _head(sheet: Datasheet) -> dict[str, str]:
    ended = show.parse_moment(sheet.run.get("ended_at"))
    if ended is not None and ended.tzinfo is not None:
        ended = ended.astimezone(UTC)  # the schema knows no time zones
    kinds = Counter(_kind(verdict) for verdict in sheet.verdicts)
    return {
        "id": "0",
        "name": "judgesheet gate",
        "package": "judgesheet",
        "timestamp": ended.strftime("%Y-%m-%dT%H:%M:%S") if ended else _NO_TIME,
        # Asked for by the schema; the real name would tell whose machine it was.
        "hostname": "localhost",
        "tests": str(len(sheet.verdicts)),
        "failures": str(kinds["failure"]),
        "errors": str(kinds["error"]),
        "skipped": str(kinds["skipped"]),
        "time": "0",
    }


def _properties(sheet: Datasheet) -> dict[str, str]:
    decision, policy = sheet.decision, sheet.provenance.get("policy")
    known = policy if isinstance(policy, dict) else {}
    return {
        "judge": str(sheet.judge.get("model", "unnamed judge")),
        "datasheet.sha256": digest(to_json(sheet)),
        "policy": str(known.get("name") or (decision.policy if decision else "")),
        "policy.sha256": str(known.get("digest", "")),
        "decision": decision.verdict if decision else "",
    }


def _kind(verdict: Verdict) -> str:
    """The element that says how a case ended; "" for one that passed."""
    if verdict.passed is None:
        return "skipped" if verdict.warns else "error"
    return "" if verdict.passed else "failure"


def _case(suite: Element, verdict: Verdict) -> None:
    name, axis = f"{verdict.key} {verdict.rule}", Key.parse(verdict.key).axis
    case = SubElement(
        suite, "testcase", name=_text(name), classname=_text(f"judgesheet.{axis}"), time="0"
    )
    kind = _kind(verdict)
    if kind:
        told = _text("; ".join(part for part in (verdict.why, verdict.needed) if part))
        fault = SubElement(case, kind, message=told)
        if kind != "skipped":
            fault.set("type", "not proven" if kind == "error" else "limit broken")
            fault.text = told


def _text(text: str) -> str:
    """Foreign text in one line, without the characters that XML cannot hold."""
    return " ".join(show.visible(text).split())
