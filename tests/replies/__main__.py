"""Print how the corpus is read, and with `-v` every reply that is not read as it should be."""

import sys

from tests.replies import Kind, cases, counts

KINDS: tuple[Kind, ...] = ("right", "wrongly read", "unread though plain")


def main() -> None:
    """A row for each axis and format, then their sum."""
    found = counts()
    groups = sorted({(axis, reply) for axis, reply, _ in found})
    print(f"{'':26}" + "".join(f"{kind:>21}" for kind in KINDS))
    for axis, reply in groups:
        row = (found[axis, reply, kind] for kind in KINDS)
        print(f"{axis + ' ' + reply:26}" + "".join(f"{count:21}" for count in row))
    sums = [sum(found[axis, reply, kind] for axis, reply in groups) for kind in KINDS]
    print(f"{f'all {sum(sums)}':26}" + "".join(f"{count:21}" for count in sums))
    plain = sum(case.expected is not None for case in cases())
    print(f"{plain} are plain; {sums[2] / plain:.1%} of them are not read")
    if "-v" in sys.argv:
        for case in cases():
            if case.kind != "right":
                print(case.id, case.kind, repr(case.text[:200]), case.expected, case.found)


if __name__ == "__main__":
    main()
