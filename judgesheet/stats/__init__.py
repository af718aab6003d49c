"""Arithmetic without judges: arrays in, frozen results out.

Parameters of the same name mean the same in every module here, and are described only once:

- `clusters`, shape (m,): labels of any kind. A cluster (a stimulus with all its calls) is what is
  independent of the rest, so it is what is resampled, left out and counted.
- `level`: the confidence level of a two-sided interval, a probability.
- `rng`, with `resamples` or `draws`: the source of what a bootstrap or a test draws, and how often.

A missing number is NaN in an array and None in a result; a result's `note` says why.
"""
