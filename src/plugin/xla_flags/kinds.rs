//! What kind of value each of XLA's flags takes.
//!
//! A plugin does not tell before it ends the process: the lists were found by setting
//! each flag whose name stands in plugins of PJRT 0.81, 0.106 and 0.115. A flag has
//! the same kind in all that know it.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a flag takes as its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// True or false.
    Bool,
    /// An integer of 32 bits.
    Int32,
    /// An integer of 64 bits.
    Int64,
    /// A number.
    Float,
    /// Any text.
    Text,
    /// It is the name of something else in a plugin's library.
    NoFlag,
}

/// The kind of a flag, if it is known.
pub fn of(flag: &str) -> Option<Kind> {
    static KINDS: LazyLock<HashMap<&str, Kind>> = LazyLock::new(|| {
        LISTS.iter().flat_map(|&(names, kind)| names.split(' ').map(move |name| (name, kind))).collect()
    });
    KINDS.get(flag).copied()
}

/// Every flag that is known.
pub fn flags() -> impl Iterator<Item = &'static str> {
    LISTS.iter().filter(|(_, kind)| *kind != Kind::NoFlag).flat_map(|(names, _)| names.split(' '))
}

const LISTS: [(&str, Kind); 6] = [
    (BOOL, Kind::Bool),
    (INT32, Kind::Int32),
    (INT64, Kind::Int64),
    (FLOAT, Kind::Float),
    (TEXT, Kind::Text),
    (NO_FLAG, Kind::NoFlag),
];

/// True or false; these alone may come without a value.
const BOOL: &str = "\
    xla_allow_excess_precision xla_allow_h2h_copy_when_automatic_host_compute_offload_disabled \
    xla_compile_all_supported_configs xla_cpu_copy_insertion_use_region_analysis \
    xla_cpu_enable_concurrency_optimized_scheduler xla_cpu_enable_fast_math \
    xla_cpu_enable_fast_min_max xla_cpu_enable_platform_dependent_math xla_cpu_enable_xprof_traceme \
    xla_cpu_experimental_enable_tiling_propagation xla_cpu_experimental_onednn_custom_call \
    xla_cpu_fast_math_honor_division xla_cpu_fast_math_honor_functions xla_cpu_fast_math_honor_infs \
    xla_cpu_fast_math_honor_nans xla_cpu_ftz xla_cpu_multi_thread_eigen xla_cpu_strict_dot_conv_math \
    xla_cpu_use_acl xla_cpu_use_fusion_emitters xla_cpu_use_new_xtile_lowering xla_cpu_use_onednn \
    xla_cpu_use_thunk_runtime xla_cpu_use_xnnpack xla_disable_all_hlo_passes \
    xla_disable_automatic_host_compute_offload xla_dump_buffer_assignment_analysis \
    xla_dump_compact_gte xla_dump_compress_protos xla_dump_disable_metadata \
    xla_dump_enable_mlir_pretty_form xla_dump_full_hlo_config xla_dump_fusion_visualization \
    xla_dump_hlo_as_dot xla_dump_hlo_as_html xla_dump_hlo_as_long_text xla_dump_hlo_as_proto \
    xla_dump_hlo_as_riegeli xla_dump_hlo_as_text xla_dump_hlo_as_url xla_dump_hlo_snapshots \
    xla_dump_hlo_to_subfolder xla_dump_hlo_unoptimized_snapshots xla_dump_include_timestamp \
    xla_dump_large_constants xla_dump_latency_hiding_schedule xla_dump_module_metadata \
    xla_early_exit_with_layouts xla_eliminate_hlo_implicit_broadcast xla_embed_ir_in_executable \
    xla_enable_command_buffers_during_profiling xla_enable_enzyme_comms_opt xla_enable_fast_math \
    xla_enable_hlo_sharding_v3 xla_enable_rgv3_materialization xla_enable_scoped_logging_timers \
    xla_flags_reset xla_gpu_all_reduce_splitter_ignore_profitability_check \
    xla_gpu_allow_ragged_all_to_all_nccl_send_recv_fallback xla_gpu_async_dot \
    xla_gpu_collect_cost_model_stats xla_gpu_collective_permute_connected_components \
    xla_gpu_collectives_use_persistent_cliques xla_gpu_command_buffer_unroll_loops \
    xla_gpu_copy_insertion_use_region_analysis xla_gpu_crash_on_verification_failures \
    xla_gpu_cublas_fallback xla_gpu_default_to_alg_dot_bf16_bf16_f32 xla_gpu_deterministic_ops \
    xla_gpu_disable_gpuasm_optimizations xla_gpu_dump_autotuned_gemm_fusions \
    xla_gpu_dump_autotuned_instructions xla_gpu_dump_llvmir xla_gpu_enable_all_gather_combine_by_dim \
    xla_gpu_enable_allocator_spatial_partitioning xla_gpu_enable_analytical_latency_estimator \
    xla_gpu_enable_analytical_sol_latency_estimator xla_gpu_enable_approx_costly_collectives \
    xla_gpu_enable_cub_radix_sort xla_gpu_enable_cublaslt xla_gpu_enable_cudnn_fmha \
    xla_gpu_enable_cudnn_int8x32_convolution_reordering xla_gpu_enable_cudnn_layer_norm \
    xla_gpu_enable_cupti_multi_subscriber xla_gpu_enable_dus_accumulator_zero_init_elimination \
    xla_gpu_enable_dynamic_slice_fusion xla_gpu_enable_fast_min_max \
    xla_gpu_enable_gxl_ragged_all_to_all xla_gpu_enable_highest_priority_async_stream \
    xla_gpu_enable_host_memory_offloading xla_gpu_enable_latency_hiding_scheduler \
    xla_gpu_enable_libnvjitlink xla_gpu_enable_llvm_module_compilation_parallelism \
    xla_gpu_enable_nccl_clique_optimization xla_gpu_enable_nccl_comm_splitting \
    xla_gpu_enable_nccl_user_buffers xla_gpu_enable_nccl_user_buffers_in_default_space \
    xla_gpu_enable_pdl xla_gpu_enable_pdl_launch xla_gpu_enable_persistent_symmetric_memory \
    xla_gpu_enable_pipelined_all_gather xla_gpu_enable_pipelined_all_reduce \
    xla_gpu_enable_pipelined_host_offloading xla_gpu_enable_pipelined_p2p \
    xla_gpu_enable_pipelined_reduce_scatter xla_gpu_enable_reassociation_for_converted_ar \
    xla_gpu_enable_reduce_scatter_combine_by_dim xla_gpu_enable_reduction_epilogue_fusion \
    xla_gpu_enable_scatter_determinism_expander xla_gpu_enable_shared_constants \
    xla_gpu_enable_split_k_autotuning xla_gpu_enable_triton_gemm xla_gpu_enable_triton_gemm_int4 \
    xla_gpu_enable_while_loop_double_buffering xla_gpu_enable_while_loop_reduce_scatter_code_motion \
    xla_gpu_exclude_nondeterministic_ops xla_gpu_executable_embed_debug_info \
    xla_gpu_exhaustive_tiling_search xla_gpu_experimental_all_fusions_with_triton \
    xla_gpu_experimental_aot_compiled_thunks \
    xla_gpu_experimental_collective_start_as_early_as_possible \
    xla_gpu_experimental_cost_model_gemm_tiling_default xla_gpu_experimental_disable_binary_libraries \
    xla_gpu_experimental_dump_fdo_profiles xla_gpu_experimental_dump_gpu_executable \
    xla_gpu_experimental_dynamic_slice_fusion_verify_offsets \
    xla_gpu_experimental_enable_alltoall_windowed_einsum \
    xla_gpu_experimental_enable_buffer_saver_on_thunks \
    xla_gpu_experimental_enable_checksum_tracing_on_thunks \
    xla_gpu_experimental_enable_collective_multi_streaming \
    xla_gpu_experimental_enable_command_buffer_on_thunks xla_gpu_experimental_enable_conv_fusion \
    xla_gpu_experimental_enable_fusion_autotuner \
    xla_gpu_experimental_enable_fusion_block_level_rewriter \
    xla_gpu_experimental_enable_heuristic_collective_combining \
    xla_gpu_experimental_enable_nccl_symmetric_buffers xla_gpu_experimental_enable_nvshmem \
    xla_gpu_experimental_enable_raft_for_stable_topk \
    xla_gpu_experimental_enable_same_shape_multi_output_fusion \
    xla_gpu_experimental_enable_selective_memcpy_overlap xla_gpu_experimental_enable_split_k_rewrite \
    xla_gpu_experimental_enable_subchannel_dequantisation_fusion \
    xla_gpu_experimental_enable_tiling_propagation \
    xla_gpu_experimental_enable_triton_heroless_priority_fusion xla_gpu_experimental_enable_triton_tma \
    xla_gpu_experimental_enable_triton_warp_specialization xla_gpu_experimental_gemm_fusion_v2 \
    xla_gpu_experimental_move_gemm_conv_autotuner \
    xla_gpu_experimental_pack_dot_operands_along_k_dimension \
    xla_gpu_experimental_ragged_all_to_all_use_barrier \
    xla_gpu_experimental_ragged_all_to_all_use_barrier_with_nccl \
    xla_gpu_experimental_ragged_all_to_all_use_device_kernel \
    xla_gpu_experimental_scaled_dot_with_triton xla_gpu_experimental_stream_annotation \
    xla_gpu_experimental_thunk_buffer_debug_module_outputs xla_gpu_experimental_use_autotuner_pass \
    xla_gpu_experimental_use_raft_select_k xla_gpu_experimental_use_ragged_dot_fusion \
    xla_gpu_experimental_use_ragged_dot_grouped_gemm xla_gpu_fail_ptx_compilation_on_register_spilling \
    xla_gpu_filter_kernels_spilling_registers_on_autotuning xla_gpu_force_conv_nchw \
    xla_gpu_force_conv_nhwc xla_gpu_ftz xla_gpu_fused_attention_use_cudnn_rng \
    xla_gpu_generate_debug_info xla_gpu_generate_line_info xla_gpu_graph_enable_concurrent_region \
    xla_gpu_log_minmax xla_gpu_mock_custom_calls xla_gpu_multi_streamed_windowed_einsum \
    xla_gpu_native_emitter_tune_unroll_factor_for_loops xla_gpu_nccl_async_execution \
    xla_gpu_nccl_blocking_communicators xla_gpu_nccl_terminate_on_error \
    xla_gpu_print_compilation_stats xla_gpu_require_complete_aot_autotune_results \
    xla_gpu_require_exclusive_lock xla_gpu_shard_autotuning xla_gpu_strict_conv_algorithm_picker \
    xla_gpu_temp_buffer_use_separate_color xla_gpu_triton_gemm_any \
    xla_gpu_unsafe_fallback_to_driver_on_ptxas_not_found xla_gpu_unsupported_annotate_with_emitter_loc \
    xla_gpu_unsupported_enable_all_reduce_decomposer \
    xla_gpu_unsupported_enable_ragged_all_to_all_decomposer \
    xla_gpu_unsupported_enable_ragged_all_to_all_multi_host_decomposer \
    xla_gpu_unsupported_enable_triton_multi_output_fusion \
    xla_gpu_unsupported_use_all_reduce_one_shot_kernel \
    xla_gpu_unsupported_use_ragged_all_to_all_one_shot_kernel xla_gpu_use_embeded_device_lib \
    xla_gpu_use_inprocess_lld xla_gpu_use_memcpy_local_p2p xla_gpu_use_new_autotune_cache_format \
    xla_gpu_use_runtime_fusion xla_gpu_verify_triton_fusion_numerics xla_hlo_evaluator_use_fast_path \
    xla_hlo_graph_addresses xla_hlo_graph_sharding_color xla_hlo_pass_fix_detect_cycles \
    xla_hlo_print_inline_stack_frames xla_hlo_profile xla_ignore_channel_id \
    xla_keep_shardings_after_spmd xla_llvm_disable_expensive_passes \
    xla_llvm_enable_alias_scope_metadata xla_llvm_enable_invariant_load_metadata \
    xla_llvm_enable_noalias_metadata xla_llvm_force_inline_before_split \
    xla_pjrt_allow_auto_layout_in_hlo xla_sdy_export_all_reduce_scatter \
    xla_spmd_enable_dynamic_slice_collective_broadcast xla_syntax_sugar_async_ops \
    xla_test_add_command_buffer_mode xla_test_all_input_layouts xla_test_all_output_layouts \
    xla_tpu_detect_inf xla_tpu_detect_nan xla_unsupported_crash_on_hlo_pass_fix_max_iterations \
    xla_unsupported_crash_on_hlo_pass_noop_change xla_unsupported_crash_on_hlo_pass_silent_hlo_change";

/// An integer of 32 bits.
const INT32: &str = "\
    xla_backend_optimization_level xla_cpu_collective_call_terminate_timeout_seconds \
    xla_cpu_collective_call_warn_stuck_timeout_seconds xla_cpu_collective_timeout_seconds \
    xla_cpu_emitter_verification_level xla_cpu_parallel_codegen_split_count \
    xla_cpu_prefer_vector_width xla_dump_max_hlo_modules xla_force_host_platform_device_count \
    xla_gpu_all_reduce_blueconnect_num_devices_per_host \
    xla_gpu_auto_spmd_partitioning_memory_budget_gb xla_gpu_autotune_level \
    xla_gpu_collective_inflation_factor xla_gpu_cudnn_gemm_fusion_level xla_gpu_cudnn_gemm_max_plans \
    xla_gpu_dot_merger_threshold_mb xla_gpu_executable_num_communication_streams \
    xla_gpu_executable_num_compute_streams xla_gpu_executable_terminate_timeout \
    xla_gpu_executable_warn_stuck_timeout xla_gpu_execution_progress_tracking \
    xla_gpu_experimental_force_split_k xla_gpu_experimental_max_unroll_factor \
    xla_gpu_experimental_parallel_async_compute_limit \
    xla_gpu_experimental_parallel_collective_overlap_limit \
    xla_gpu_experimental_parallel_scale_up_collective_overlap_limit \
    xla_gpu_experimental_scheduler_memory_fencing_slack_windows \
    xla_gpu_first_collective_call_terminate_timeout_seconds \
    xla_gpu_first_collective_call_warn_stuck_timeout_seconds xla_gpu_force_compilation_parallelism \
    xla_gpu_fusion_autotune_top_k_configs xla_gpu_graph_min_graph_size xla_gpu_llvm_verification_level \
    xla_gpu_memory_limit_slop_factor xla_gpu_trace_annotation_level \
    xla_multiheap_size_constraint_per_heap xla_recognize_reduction_optimization_level";

/// An integer of 64 bits.
const INT64: &str = "\
    xla_cmd_buffer_trace_cache_size xla_debug_buffer_assignment_show_max \
    xla_deduplicate_backend_configs_min_size xla_gpu_all_gather_combine_threshold_bytes \
    xla_gpu_all_reduce_combine_threshold_bytes xla_gpu_async_copy_min_bytes \
    xla_gpu_autotune_max_solutions xla_gpu_blas_max_algorithms \
    xla_gpu_collective_combine_threshold_count xla_gpu_collective_permute_combine_threshold_bytes \
    xla_gpu_collective_permute_decomposer_threshold \
    xla_gpu_experimental_collective_cse_distance_threshold \
    xla_gpu_experimental_scheduler_memory_fencing_threshold_bytes xla_gpu_gemm_rewrite_size_threshold \
    xla_gpu_gxl_scratch_size_bytes xla_gpu_nccl_collective_max_nchannels \
    xla_gpu_nccl_init_max_rank_per_root_ratio xla_gpu_nccl_p2p_max_nchannels \
    xla_gpu_nccl_termination_timeout_seconds xla_gpu_operand_bytes_threshold_for_windowed_einsum \
    xla_gpu_reduce_scatter_combine_threshold_bytes xla_gpu_redzone_padding_bytes \
    xla_gpu_rocm_max_trace_events xla_gpu_threshold_for_windowed_einsum_mib \
    xla_gpu_unsupported_override_fast_interconnect_slice_size xla_reduce_window_rewrite_base_length \
    xla_while_loop_all_reduce_dus_code_motion_max_size_bytes";

/// A number.
const FLOAT: &str = "\
    xla_gpu_auto_spmd_partitioning_memory_budget_ratio xla_gpu_autotune_gemm_rtol";

/// Any text.
const TEXT: &str = "\
    xla_backend_extra_options xla_candidate_configs_file xla_cpu_max_isa xla_disable_hlo_passes \
    xla_dump_emitter_re xla_dump_hlo_module_re xla_dump_hlo_pass_re xla_dump_hlo_pipeline_re \
    xla_dump_to xla_enable_hlo_passes_only xla_force_config xla_gpu_algorithm_denylist_path \
    xla_gpu_analytical_latency_estimator_options xla_gpu_collective_domain_assignment \
    xla_gpu_collectives_implementation xla_gpu_cuda_data_dir xla_gpu_dump_autotune_logs_to \
    xla_gpu_dump_autotune_results_to xla_gpu_dump_cost_model_top_k_candidates_to \
    xla_gpu_experimental_autotuner_cache_dir xla_gpu_experimental_collective_perf_table_path \
    xla_gpu_experimental_cost_model_gemm_tiling_options xla_gpu_experimental_matmul_perf_table_path \
    xla_gpu_experimental_thunk_buffer_debug_filter_by_profile_annotation_re \
    xla_gpu_gemm_autotuner_override_file xla_gpu_hlo_custom_call_allowlist xla_gpu_kernel_cache_file \
    xla_gpu_llvm_ir_file xla_gpu_load_autotune_results_from xla_gpu_override_gemm_autotuner \
    xla_gpu_per_fusion_autotune_cache_dir xla_gpu_pgle_profile_file_or_directory_path \
    xla_gpu_ptx_compiler_extra_flags xla_gpu_ptx_file xla_gpu_target_config_filename \
    xla_run_hlo_passes_starting_from";

/// Names in plugins' libraries that look like flags: options of passes and other things.
const NO_FLAG: &str = "\
    xla_allow_dce_side_effecting_op xla_cpu xla_cpu_disable_loop_unrolling \
    xla_cpu_disable_new_fusion_emitters xla_cpu_disable_platform_dependent_math \
    xla_cpu_disable_slp_vectorizer xla_cpu_flatten_after_fusion xla_cpu_fold_all_constants \
    xla_cpu_memory_region_name xla_cpu_opt_preset xla_cpu_optimize_for_size xla_cpu_small_call \
    xla_cpu_small_while_loop_byte_threshold xla_detailed_logging xla_disable_while_loop_copies \
    xla_disable_while_loop_dce xla_disjoint_read_write_regions xla_dump xla_dylib_index xla_early \
    xla_enable_dumping xla_force_enable_experimental_llvm_ir_gemm xla_gpu xla_is_host_offload xla_late \
    xla_llvm_dot_tiling_factor xla_llvm_ir_gemm_tile_size xla_loop xla_metadata_payload \
    xla_preserve_tuple_indices xla_shape xla_skip_custom_call_alias_shape_check xla_version";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_lists() {
        for (list, _) in LISTS {
            let names: Vec<&str> = list.split(' ').collect();
            assert!(names.is_sorted_by(|one, next| one < next));
            assert!(names.iter().all(|name| name.starts_with("xla_")));
        }
        assert_eq!(of("xla_dump_to"), Some(Kind::Text));
        assert_eq!(of("xla_cpu_prefer_vector_width"), Some(Kind::Int32));
        assert_eq!(of("xla_of_a_newer_plugin"), None);
        assert!(flags().any(|name| name == "xla_dump_to") && !flags().any(|name| name == "xla_version"));
    }
}
