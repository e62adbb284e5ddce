"""A callback for Hugging Face's Trainer that records one training; `stepscope profile` needs none of this."""

from typing import Any

from transformers import TrainerCallback

import stepscope


class StepscopeCallback(TrainerCallback):
    """Records between the start and the end of `train`; arguments are those of `stepscope.profile`."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401  (passed on as they are)
        self.recording = stepscope.profile(**options)

    def on_train_begin(self, *_: object, **__: object) -> None:
        """Begin to record."""
        self.recording.__enter__()

    def on_train_end(self, *_: object, **__: object) -> None:
        """Diagnose, and print the report on stderr."""
        self.recording.__exit__(None, None, None)
