"""What names of kernels and host events mean, as they occur in public traces."""

from __future__ import annotations

import pytest

from stepscope.trace import call_names, kernel_names
from tests.analysis.made import call, host_table, note, op

ON_CORES = (
    "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn",
    "volta_h884gemm_64x64_ldg8_nn",
    "turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_medium_nhwc_tn_v1",
    "turing_int8_i8816cudnn_int8_256x128_ldg16_relu_medium_nt_v1",
    "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
    "ampere_fp16_s1688gemm_fp16_64x64_sliced1x2_ldg8_f2f_nt",
    "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1>(Params)",
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_16x6_tn_align4>(Params)",
    "sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1",
    "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32",
    "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64",
    "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT",
    "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16",
    "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3",
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128>>",
    "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(Params)",
    "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)",
    "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN",
    "igemm_fwd_gtcx2_nhwc_fp16_bx0_ex1_bt128x128x32",
    "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm>",
    "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>",
)
ON_PLAIN = (
    "volta_sgemm_64x64_nt",
    "ampere_sgemm_128x64_tn",
    "cudnn_volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
    "volta_scudnn_128x64_relu_interior_nn_v1",
    "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)",
    "void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int)",
    "void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1>",
    "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>",
    "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3",
    "cutlass_80_simt_sgemm_128x64_8x5_nn_align1",
    "Cijk_Ailk_Bljk_SB_MT128x64x16_SN",
)
UNTOLD = ("attn_fwd", "triton_tem_fused_mm_0", "matmul_kernel")
NO_MATRIX = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
    "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float)",
    "void splitKreduce_kernel<32, 16, int, float>",
    "void cudnn::ops::nchwToNhwcKernel<float, float>",
    "batched_transpose_16x64_pack_1x4_ediv_1x2_half",
    "triton_poi_fused_add_relu_0",
    "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16>",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>",
    "void gemv2T_kernel_val<int, int, float, float>",
)


@pytest.mark.parametrize(
    ("names", "is_matrix", "answer"),
    [
        (ON_CORES, True, True),
        (ON_PLAIN, True, False),
        (UNTOLD, True, None),
        (NO_MATRIX, False, False),
    ],
)
def test_kernel_names(names, is_matrix, answer):
    assert [name for name in names if kernel_names.is_matrix(name) is not is_matrix] == []
    assert [name for name in names if kernel_names.uses_tensor_cores(name) is not answer] == []


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (
            call_names.BLOCKING,
            (
                "cudaStreamSynchronize cudaDeviceSynchronize cudaEventSynchronize cudaMemcpy hipMemcpy "
                "hipMemcpyWithStream hipStreamSynchronize cuStreamSynchronize cudaStreamSynchronize_ptsz cudaMemcpy_v2"
            ),
            "cudaMemcpyAsync cudaStreamWaitEvent cudaEventQuery cudaLaunchKernel hipMemcpyAsync",
        ),
        (
            call_names.ALLOCATOR,
            (
                "cudaMalloc cudaFree cudaHostAlloc hipMalloc hipFree cuMemCreate cuMemMap cuMemAddressReserve "
                "cudaMallocHost hipExtMallocWithFlags"
            ),
            "cudaMemcpyAsync cudaFuncGetAttributes cuMemcpyAsync cudaMemsetAsync",
        ),
        (
            call_names.LAUNCH,
            (
                "cudaLaunchKernel cudaLaunchKernelExC cuLaunchKernel cuLaunchKernelEx hipLaunchKernel cudaGraphLaunch "
                "hipExtModuleLaunchKernel hipModuleLaunchKernel hipGraphLaunch cudaLaunchCooperativeKernel hipExtLaunchKernel"
            ),
            "cudaMemcpyAsync cudaFuncSetAttribute cudaEventRecord",
        ),
    ],
)
def test_calls(pattern, yes, no):
    for names, answer in ((yes.split(), True), (no.split(), False)):
        rows = host_table([call(name, 0, 1) for name in names])
        found = call_names.matching(rows, pattern, call_names.CALLS)
        assert dict(zip(names, found.tolist(), strict=True)) == dict.fromkeys(names, answer)


def test_kinds_are_kept_apart():
    rows = host_table([op("cudaMalloc", 0, 1), call("cudaMalloc", 2, 3)])
    assert call_names.matching(rows, call_names.ALLOCATOR, call_names.CALLS).tolist() == [
        False,
        True,
    ]
    assert (
        call_names.matching(host_table([]), call_names.ALLOCATOR, call_names.CALLS).tolist() == []
    )


def test_ranges_that_old_files_call_operators_are_none():
    rows = host_table(
        [
            op("ProfilerStep#3", 0, 9),
            op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 2),
            op("Optimizer.step#SGD.step", 3, 4),
            op("## forward ##", 5, 6),
            op("aten::mm", 7, 8),
            note("aten::mm", 8, 9),
        ]
    )
    assert call_names.operators(rows).tolist() == [False, False, False, False, True, False]
