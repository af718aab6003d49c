"""Tests of the datasheet on paper and on screen."""
