"""`datasheet.junit.xml`: the verdicts as test cases, for continuous integration.

A broken limit is a failure, one that is not proven or void an error, or skipped where the policy
only warns. The case `decision` fails or errs exactly when the gate does not pass. The form is that
of Ant's JUnit report, which GitLab, Jenkins and GitHub actions read.
"""

from collections import Counter
from datetime import UTC
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from judgesheet.base.datasheet import to_json
from judgesheet.base.errors import UsageError
from judgesheet.base.keys import Key
from judgesheet.base.records import Datasheet, Decision, Verdict, digest
from judgesheet.sheet import Paper, show
from judgesheet.sheet.verdicts import summary

SUFFIX = "junit.xml"
_NO_TIME = "1970-01-01T00:00:00"
_DECISIONS = {"adopt": "", "conditions": "", "reject": "failure", "not_proven": "error"}
"""The element that says how the decision came out; "" for one with which the gate passes."""


def render(sheet: Datasheet, _paper: Paper) -> bytes:
    """The decision and the verdicts of a sheet as one test suite.

    UsageError if the sheet carries no decision.
    """
    if sheet.decision is None:
        raise UsageError(
            "the datasheet carries no decision; `judgesheet gate … --policy P --junit FILE` "
            "makes one, or `judgesheet measure DIR --policy P`"
        )
    decision = sheet.decision
    root = Element("testsuites")
    suite = SubElement(root, "testsuite", _head(sheet, decision))
    properties = SubElement(suite, "properties")
    for name, value in _properties(sheet, decision).items():
        SubElement(properties, "property", name=name, value=_text(value))
    lines = (" ".join((decision.text, *decision.needed_sentences)),)
    _put(suite, "decision", "judgesheet", _DECISIONS[decision.verdict], decision.verdict, lines)
    for verdict in sheet.verdicts:
        _case(suite, verdict)
    SubElement(suite, "system-out").text = "\n".join(map(_text, summary(sheet)))
    SubElement(suite, "system-err").text = ""
    indent(root)
    body = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'.encode()


def _head(sheet: Datasheet, decision: Decision) -> dict[str, str]:
    ended = show.parse_moment(sheet.run.ended_at)
    if ended is not None and ended.tzinfo is not None:
        ended = ended.astimezone(UTC)  # the schema knows no time zones
    kinds = Counter((_DECISIONS[decision.verdict], *(_kind(verdict) for verdict in sheet.verdicts)))
    return {
        "id": "0",
        "name": "judgesheet gate",
        "package": "judgesheet",
        "timestamp": ended.strftime("%Y-%m-%dT%H:%M:%S") if ended else _NO_TIME,
        # Asked for by the schema; the real name would tell whose machine it was.
        "hostname": "localhost",
        "tests": str(1 + len(sheet.verdicts)),
        "failures": str(kinds["failure"]),
        "errors": str(kinds["error"]),
        "skipped": str(kinds["skipped"]),
        "time": "0",
    }


def _properties(sheet: Datasheet, decision: Decision) -> dict[str, str]:
    return {
        "judge": sheet.judge.model or "unnamed judge",
        "datasheet.sha256": digest(to_json(sheet)),
        "policy": decision.policy,
        "policy.sha256": decision.policy_digest,
        "decision": decision.verdict,
    }


def _kind(verdict: Verdict) -> str:
    """The element that says how a case ended; "" for one that passed."""
    if verdict.status == "fail":
        return "failure"
    return "" if verdict.status == "pass" else "skipped" if verdict.excused else "error"


def _case(suite: Element, verdict: Verdict) -> None:
    name, axis = f"{verdict.key} {verdict.rule}", Key.parse(verdict.key).axis
    lines = (verdict.why, verdict.needed, verdict.remark)
    _put(suite, name, f"judgesheet.{axis}", _kind(verdict), verdict.status, lines)


def _put(suite: Element, name: str, of: str, kind: str, type_: str, lines: tuple[str, ...]) -> None:
    case = SubElement(suite, "testcase", name=_text(name), classname=_text(of), time="0")
    if kind:
        message = _text("; ".join(part for part in lines if part))
        fault = SubElement(case, kind, message=message)
        if kind != "skipped":
            fault.set("type", type_)
            fault.text = message


def _text(text: str) -> str:
    """Foreign text in one line, without the characters that XML cannot hold."""
    return " ".join(show.visible(text).split())
