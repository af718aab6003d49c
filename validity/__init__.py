"""Whether a datasheet says beforehand how a judge agrees with people; see docs/validity.md."""
