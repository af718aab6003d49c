"""`datasheet.junit.xml`: the verdicts as test cases, for continuous integration.

A broken limit is a failure, one that is not proven an error, or skipped where the policy only
warns. The form is the one of Ant's JUnit report, which GitLab, Jenkins and GitHub actions read.
"""

from datetime import UTC
from xml.etree import ElementTree

from judgesheet.errors import UsageError
from judgesheet.keys import Key
from judgesheet.records import Datasheet, Verdict, digest
from judgesheet.spine.datasheet import to_json
from judgesheet.spine.render import Paper, show

SUFFIX = "junit.xml"
_NO_TIME = "1970-01-01T00:00:00"


def render(sheet: Datasheet, _paper: Paper) -> bytes:
    """The verdicts of a sheet as one test suite.

    Raises
    ------
    UsageError
        if the sheet carries no verdict.
    """
    if not sheet.verdicts:
        raise UsageError(
            "the datasheet carries no verdicts; `judgesheet gate … --policy P --junit FILE` "
            "makes them, or `judgesheet measure DIR --policy P`"
        )
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", _head(sheet))
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(sheet):
        ElementTree.SubElement(properties, "property", name=name, value=_text(value))
    for verdict in sheet.verdicts:
        _case(suite, verdict)
    decision = sheet.decision
    ElementTree.SubElement(suite, "system-out").text = _text(decision.text if decision else "")
    ElementTree.SubElement(suite, "system-err").text = ""
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'.encode()


def _head(sheet: Datasheet) -> dict[str, str]:
    verdicts = sheet.verdicts
    ended = show.parse_moment(sheet.run.get("ended_at"))
    aware = ended is not None and ended.tzinfo is not None
    when = ended.astimezone(UTC) if ended is not None and aware else ended
    return {
        "id": "0",
        "name": "judgesheet gate",
        "package": "judgesheet",
        "timestamp": when.strftime("%Y-%m-%dT%H:%M:%S") if when else _NO_TIME,
        "hostname": "localhost",
        "tests": str(len(verdicts)),
        "failures": str(sum(v.passed is False for v in verdicts)),
        "errors": str(sum(v.passed is None and not v.warns for v in verdicts)),
        "skipped": str(sum(v.passed is None and v.warns for v in verdicts)),
        "time": "0",
    }


def _properties(sheet: Datasheet) -> list[tuple[str, str]]:
    decision = sheet.decision
    policy = sheet.provenance.get("policy")
    known = policy if isinstance(policy, dict) else {}
    return [
        ("judge", str(sheet.judge.get("model", "unnamed judge"))),
        ("datasheet.sha256", digest(to_json(sheet))),
        ("policy", str(known.get("name") or (decision.policy if decision else ""))),
        ("policy.sha256", str(known.get("digest", ""))),
        ("decision", decision.verdict if decision else ""),
    ]


def _case(suite: ElementTree.Element, verdict: Verdict) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        name=_text(f"{verdict.key} {verdict.rule}"),
        classname=_text(f"judgesheet.{Key.parse(verdict.key).axis}"),
        time="0",
    )
    if verdict.passed:
        return
    told = _text("; ".join(part for part in (verdict.why, verdict.needed) if part))
    if verdict.passed is None and verdict.warns:
        ElementTree.SubElement(case, "skipped", message=told)
        return
    kind = "error" if verdict.passed is None else "failure"
    name = "not proven" if verdict.passed is None else "limit broken"
    fault = ElementTree.SubElement(case, kind, message=told, type=name)
    fault.text = told


def _text(text: str) -> str:
    """Foreign text in one line, without the characters that XML cannot hold."""
    return " ".join(show.visible(text).split())
