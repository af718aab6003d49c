"""Measure: from the replies of a ledger to the estimates. No call is made."""
