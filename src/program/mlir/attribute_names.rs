//! The names of the attributes of VHLO's operations.
//!
//! Files of old versions give them by name, newer ones by position.

/// The kind of the attribute of this name, as a letter; `*` where it has several kinds
/// or is not known.
pub fn kind(name: &[u8]) -> u8 {
    let found = KINDS.binary_search_by_key(&name, |row| row.0.as_bytes());
    found.map_or(b'*', |position| KINDS[position].1)
}

/// Name and kind, by name.
#[rustfmt::skip]
const KINDS: [(&str, u8); 104] = [
    ("accumulation_type", b'y'),
    ("all_gather_dim", b'i'),
    ("api_version", b'v'),
    ("arg_attrs", b'a'),
    ("base_dilations", b'I'),
    ("batch_dims", b'i'),
    ("batch_group_count", b'i'),
    ("broadcast_dimensions", b'I'),
    ("broadcast_sizes", b'I'),
    ("call_target_name", b's'),
    ("called_computations", b'a'),
    ("callee", b's'),
    ("channel_id", b'i'),
    ("channel_type", b'i'),
    ("collapsed_slice_dims", b'I'),
    ("compare_type", b'C'),
    ("comparison_direction", b'c'),
    ("composite_attributes", b'd'),
    ("concat_dimension", b'i'),
    ("decomposition", b's'),
    ("dim", b'i'),
    ("dimension", b'i'),
    ("dimensions", b'I'),
    ("edge_padding_high", b'I'),
    ("edge_padding_low", b'I'),
    ("einsum_config", b's'),
    ("epsilon", b'F'),
    ("exponent_bits", b'i'),
    ("feature_group_count", b'i'),
    ("feature_index", b'i'),
    ("fft_length", b'I'),
    ("fft_type", b'f'),
    ("function_type", b'y'),
    ("has_dynamic_root", b'b'),
    ("has_side_effect", b'b'),
    ("index", b'i'),
    ("index_vector_dim", b'i'),
    ("indices_are_sorted", b'b'),
    ("infeed_config", b's'),
    ("input_batch_dimension", b'i'),
    ("input_batching_dims", b'I'),
    ("input_feature_dimension", b'i'),
    ("input_spatial_dimensions", b'I'),
    ("inserted_window_dims", b'I'),
    ("interior_padding", b'I'),
    ("iota_dimension", b'i'),
    ("is_host_transfer", b'b'),
    ("is_stable", b'b'),
    ("kernel_input_feature_dimension", b'i'),
    ("kernel_output_feature_dimension", b'i'),
    ("kernel_spatial_dimensions", b'I'),
    ("left_side", b'b'),
    ("lhs_batching_dimensions", b'I'),
    ("lhs_contracting_dimensions", b'I'),
    ("lhs_dilation", b'I'),
    ("lhs_precision_type", b'y'),
    ("limit_indices", b'I'),
    ("lower", b'b'),
    ("mantissa_bits", b'i'),
    ("name", b's'),
    ("offset_dims", b'I'),
    ("operand_batching_dims", b'I'),
    ("operand_layouts", b'a'),
    ("outfeed_config", b's'),
    ("output_batch_dimension", b'i'),
    ("output_feature_dimension", b'i'),
    ("output_operand_aliases", b'a'),
    ("output_spatial_dimensions", b'I'),
    ("padding", b'I'),
    ("permutation", b'I'),
    ("precision_config", b'a'),
    ("res_attrs", b'a'),
    ("result_accuracy", b'u'),
    ("result_layouts", b'a'),
    ("rhs_batching_dimensions", b'I'),
    ("rhs_contracting_dimensions", b'I'),
    ("rhs_dilation", b'I'),
    ("rhs_precision_type", b'y'),
    ("rng_algorithm", b'r'),
    ("rng_distribution", b'R'),
    ("scatter_dimension", b'i'),
    ("scatter_dims_to_operand_dims", b'I'),
    ("scatter_indices_batching_dims", b'I'),
    ("slice_sizes", b'I'),
    ("source_target_pairs", b'I'),
    ("split_count", b'i'),
    ("split_dimension", b'i'),
    ("start_index_map", b'I'),
    ("start_indices", b'I'),
    ("start_indices_batching_dims", b'I'),
    ("strides", b'I'),
    ("sym_name", b's'),
    ("sym_visibility", b's'),
    ("transpose_a", b'T'),
    ("unique_indices", b'b'),
    ("unit_diagonal", b'b'),
    ("update_window_dims", b'I'),
    ("use_global_device_ids", b'b'),
    ("value", b't'),
    ("version", b'i'),
    ("window_dilations", b'I'),
    ("window_dimensions", b'I'),
    ("window_reversal", b'B'),
    ("window_strides", b'I'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(KINDS.is_sorted_by_key(|row| row.0));
        assert_eq!((kind(b"slice_sizes"), kind(b"epsilon"), kind(b"backend_config")), (b'I', b'F', b'*'));
    }
}
