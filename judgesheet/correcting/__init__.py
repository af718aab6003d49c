"""Results of a user's own evaluation, with the errors of the judge in them.

`table` reads verdicts and labels, `words` says what a cell is worth, `pairs` makes one value of the
calls on a pair. `labelled` corrects by labels and compares systems. `result` is what comes out, and
`run` calls the stages in turn. Nothing here prints; `sheet.correction` does.
"""
