"""Short trials of an unchanged script with one change each, measured against trials without it."""

from stepscope.experiment.outcome import Experiment, Measured
from stepscope.experiment.rounds import Order, tune

__all__ = ["Experiment", "Measured", "Order", "tune"]
