"""What can be read from a training script without running it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from stepscope.schema.machine import LoaderCall, ScriptFacts

if TYPE_CHECKING:
    from pathlib import Path

FRAMEWORKS = (
    "lightning",
    "pytorch_lightning",
    "accelerate",
    "transformers",
    "fastai",
    "deepspeed",
    "composer",
)
MOVERS = frozenset(
    {"cuda", "to", "to_empty", "device_map", "prepare", "set_default_device", "device"}
)
PRECISION = frozenset(
    {
        "autocast", "amp", "bfloat16", "float16", "half", "bf16", "fp16", "allow_tf32",
        "set_float32_matmul_precision", "precision", "mixed_precision", "GradScaler",
    }
)  # fmt: skip


def read_script(path: Path) -> ScriptFacts:
    """The script's facts; ``error`` says why it could not be read."""
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except OSError as error:
        return ScriptFacts(path=str(path), error=f"it cannot be read ({error.strerror})")
    except (SyntaxError, ValueError) as error:
        return ScriptFacts(path=str(path), error=f"it is not Python ({error})")
    names = set()
    modules = set()
    loaders = []
    for node in ast.walk(tree):
        names |= names_of(node)
        modules |= modules_of(node)
        if isinstance(node, ast.Call) and last_name(node.func) == "DataLoader":
            loaders.append(loader_of(node))
    return ScriptFacts(
        path=str(path),
        loaders=tuple(sorted(loaders, key=lambda loader: loader.line)),
        framework=next((name for name in FRAMEWORKS if name in modules), ""),
        moves_to_device=bool(names & MOVERS),
        lowers_precision=bool(names & PRECISION),
    )


def names_of(node: ast.AST) -> set[str]:
    """Attributes, keywords and short texts of a node, which is where a script names what it uses."""
    if isinstance(node, ast.Attribute):
        return {node.attr}
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.keyword) and node.arg:
        return {node.arg}
    return set()


def modules_of(node: ast.AST) -> set[str]:
    """Top-level modules that a node imports."""
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
        return {node.module.partition(".")[0]}
    return set()


def last_name(node: ast.expr) -> str:
    """``DataLoader`` of ``torch.utils.data.DataLoader``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def loader_of(call: ast.Call) -> LoaderCall:
    """A ``DataLoader(...)`` call. The sixth positional argument is ``num_workers``."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    workers: int | None = 0
    if None in given or any(isinstance(value, ast.Starred) for value in call.args):
        workers = None
    value = given.get("num_workers", call.args[5] if len(call.args) > 5 else None)
    if value is not None:
        is_number = isinstance(value, ast.Constant) and isinstance(value.value, int)
        workers = value.value if is_number and isinstance(value, ast.Constant) else None  # type: ignore[assignment]
    return LoaderCall(line=call.lineno, workers=workers, pins="pin_memory" in given)
