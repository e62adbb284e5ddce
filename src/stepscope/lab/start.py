"""Finds the training programs that come with the package, which are data, not modules."""

from __future__ import annotations

from pathlib import Path


def demo_script() -> Path:
    """The demo's training script."""
    return Path(__file__).parent / "demo" / "train.py"
