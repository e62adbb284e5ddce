"""What a change would gain, as a range: replays of the recorded steps, and the input-pipeline model.

``gains`` gives everything that is predicted for one rank. It replays the steps with nothing changed
first; when that does not give the measured steps back, nothing is predicted.
"""

from stepscope.predict.behind import Behind, behind
from stepscope.predict.classes import ClassGain, Kind
from stepscope.predict.gains import Gains, WorkersGain, gains, together_gain
from stepscope.predict.pipeline import Plan
from stepscope.predict.recompile import Recompiled
from stepscope.predict.source import CleanSteps, Setting, Staging
from stepscope.predict.together import shortest_calls

__all__ = [
    "Behind",
    "ClassGain",
    "CleanSteps",
    "Gains",
    "Kind",
    "Plan",
    "Recompiled",
    "Setting",
    "Staging",
    "WorkersGain",
    "behind",
    "gains",
    "shortest_calls",
    "together_gain",
]
