"""Arithmetic without judges: arrays in, frozen results out."""
