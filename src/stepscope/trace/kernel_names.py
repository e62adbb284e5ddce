"""What the name of a kernel tells: whether it multiplies matrices, and whether it does so on Tensor Cores.

Names of cuBLAS, cuDNN, CUTLASS, TensorRT-LLM, FlashAttention and PyTorch from Volta to Blackwell, and of
Tensile, Composable Kernel, MIOpen and AITER on AMD, as they occur in public traces.
"""

from __future__ import annotations

import re
from functools import lru_cache

REMEMBERED = 1024
"""Names whose answer is kept: several analyses ask about the same ones."""

_NOT_MATRIX = re.compile(
    r"gemv|splitk_?reduce|depthwise|nchwtonhwc|nhwctonchw|transpose", re.IGNORECASE
)

_MATRIX = re.compile(
    r"gemm|scudnn|convolve|_engine<|winograd|xmma|nvjet|^cijk_|fmha|flash|attention|attn_|sdpa|cutlass"
    r"|^bmm_|dgrad|wgrad|fprop|matmul|triton_tem|[hsidbf](884|1688|8816|16816|16832)|mfma|xdl|_conv_|conv2d|conv3d|marlin"
    r"|miopensp3asmconv",
    re.IGNORECASE,
)

_ON_MATRIX_CORES = re.compile(
    r"tensorop|[hsidbf]\d*(884|1688|8816|16816|16832)|[hi]mma|wgmma|gmma|tcgen05|tensor\d+x\d+x\d+"
    r"|xmma_.*(bf16|(?<![a-z])f16|tf32|i8i8|e4m3|e5m2|fp8)"
    r"|nvjet|^(bmm|gemm)_(mx)?(bfloat16|fp16|e\dm\d)|deep_gemm|fp8_gemm|marlin"
    r"|flash_(fwd|bwd)|flash::|fmhasm\d|fmha_(fwd|bwd|v2)|cudnn_generated.*sdpa|mainloopsm(90|100|120)"
    r"|fmha_cutlass[fb]_b?f16|fmha_cutlass[fb]_f32.*sm80"
    r"|_mi\d+x\d+|mfma|xdl|gtcx|wmma|ck_tile::\w*fmha|fmhafwd|fmhabwd",
    re.IGNORECASE,
)

_ON_PLAIN_CORES = re.compile(
    r"simt|[sdc]gemm|scudnn|convolve|_engine<|winograd|xmma_|cudnn::|fft|^cijk_|cutlass[fb]_f32|sp3asmconv",
    re.IGNORECASE,
)


@lru_cache(REMEMBERED)
def is_matrix(name: str) -> bool:
    """Whether the kernel multiplies matrices or convolves, so that Tensor Cores could do it."""
    return bool(_MATRIX.search(name)) and not _NOT_MATRIX.search(name)


@lru_cache(REMEMBERED)
def uses_tensor_cores(name: str) -> bool | None:
    """Whether the kernel computes on Tensor Cores (matrix cores); ``None`` where the name does not tell."""
    if not is_matrix(name):
        return False
    if _ON_MATRIX_CORES.search(name):
        return True
    return False if _ON_PLAIN_CORES.search(name) else None
