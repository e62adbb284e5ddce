"""A callback for Lightning that records one training and diagnoses it; `stepscope profile` needs none of this."""

from typing import Any

import lightning

import stepscope


class StepscopeCallback(lightning.Callback):
    """Records between the start and the end of `fit`; arguments are those of `stepscope.profile`."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401  (passed on as they are)
        self.recording = stepscope.profile(**options)

    def on_fit_start(self, trainer: object, module: object) -> None:  # noqa: ARG002
        """Begin to record."""
        self.recording.__enter__()

    def on_fit_end(self, trainer: object, module: object) -> None:  # noqa: ARG002
        """Diagnose, and print the report on stderr."""
        self.recording.__exit__(None, None, None)
