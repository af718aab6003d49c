"""What holds for every test: none asserts a time, hypothesis included."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
