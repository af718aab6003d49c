"""The spine: plan, collect, ledger, measure, datasheet, render; one module a stage."""
