"""Finds training steps, times them and opens profiler windows, inside the user's own process.

The package's only home of ``import torch``, and only inside functions: the script must be the first
to import it, so that whatever it sets before that import still counts.
"""
