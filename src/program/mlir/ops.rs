//! The operations of VHLO: what each takes, gives and holds.

use super::encodings::{Code, attribute};
use super::entries::Entries;
use crate::dtype::DType;

/// The shape of an operation. A negative count means at least so many less one: -1 is
/// any number, -2 is one or more.
#[derive(Debug)]
pub struct Shape {
    operands: i8,
    results: i8,
    regions: i8,
    /// The kinds of its attributes, a letter each, in the order of their names.
    pub attributes: &'static str,
}

impl Shape {
    /// The shape of the VHLO operation of this name; `None` for one that is newer.
    pub fn of(name: &[u8]) -> Option<Shape> {
        let position = OPERATIONS.binary_search_by_key(&name, |row| row.0.as_bytes()).ok()?;
        let (_, operands, results, regions, attributes) = OPERATIONS[position];
        Some(Shape { operands, results, regions, attributes })
    }

    /// Whether an operation of these counts is one.
    pub fn fits(&self, operands: usize, results: usize, regions: usize) -> bool {
        let fits = |count: usize, wanted: i8| match usize::try_from(wanted) {
            Ok(wanted) => count == wanted,
            Err(_) => count + 1 >= usize::from(wanted.unsigned_abs()),
        };
        fits(operands, self.operands) && fits(results, self.results) && fits(regions, self.regions)
    }
}

/// Whether an attribute is of the kind that a letter means. Some are written in two
/// ways, and any will do for a `*`.
pub fn is_kind(entries: &Entries, letter: u8, index: u32) -> Option<()> {
    let code = *entries.codes.get(index as usize)?;
    let dtype = entries.constant_dtype(index);
    let fits = match letter {
        b'a' => code == attribute::VHLO_ARRAY,
        b'b' => code == attribute::VHLO_BOOLEAN,
        b'c' => code == Code::Vhlo(3),
        b'C' => code == Code::Vhlo(4),
        b'd' => code == attribute::VHLO_DICTIONARY,
        b'f' => code == Code::Vhlo(7),
        b'F' => code == Code::Vhlo(8),
        b'i' => code == attribute::VHLO_INTEGER,
        b'r' => code == Code::Vhlo(12),
        b'R' => code == Code::Vhlo(13),
        b's' => code == attribute::VHLO_STRING,
        b't' => code == attribute::VHLO_TENSOR,
        b'B' => code == attribute::VHLO_TENSOR && dtype == Some(DType::PRED),
        b'I' => code == attribute::VHLO_TENSOR && dtype == Some(DType::S64),
        b'T' => code == Code::Vhlo(16),
        b'g' => code == Code::Vhlo(23) || code == attribute::VHLO_TENSOR && dtype == Some(DType::S64),
        b'S' => matches!(code, attribute::VHLO_STRING | attribute::VHLO_DICTIONARY),
        b'o' => matches!(code, attribute::VHLO_INTEGER | attribute::VHLO_TYPE),
        b'O' => matches!(code, attribute::VHLO_BOOLEAN | attribute::VHLO_TYPE),
        b'u' => code == Code::Vhlo(20),
        b'v' => code == attribute::VHLO_API_VERSION,
        b'y' => code == attribute::VHLO_TYPE,
        _ => true,
    };
    fits.then_some(())
}

/// Name, operands, results, regions and attributes, by name.
#[rustfmt::skip]
const OPERATIONS: [(&str, i8, i8, i8, &str); 144] = [
    ("abs_v1", 1, 1, 0, ""),
    ("add_v1", 2, 1, 0, ""),
    ("after_all_v1", -1, 1, 0, ""),
    ("all_gather_v1", 1, 1, 0, "iigb"),
    ("all_gather_v2", -1, -1, 0, "iigb"),
    ("all_reduce_v1", 1, 1, 1, "igb"),
    ("all_reduce_v2", -1, -1, 1, "igb"),
    ("all_to_all_v1", 1, 1, 0, "iigii"),
    ("all_to_all_v2", -1, -1, 0, "iigii"),
    ("and_v1", 2, 1, 0, ""),
    ("async_done_v1", 1, 1, 0, ""),
    ("async_start_v1", -1, 1, 1, ""),
    ("atan2_v1", 2, 1, 0, ""),
    ("batch_norm_grad_v1", 5, 3, 0, "Fi"),
    ("batch_norm_inference_v1", 5, 1, 0, "Fi"),
    ("batch_norm_training_v1", 3, 3, 0, "Fi"),
    ("bitcast_convert_v1", 1, 1, 0, ""),
    ("broadcast_in_dim_v1", 1, 1, 0, "I"),
    ("broadcast_v1", 1, 1, 0, "I"),
    ("call_v1", -1, -1, 0, "s"),
    ("case_v1", 1, -1, -1, ""),
    ("cbrt_v1", 1, 1, 0, ""),
    ("cbrt_v2", 1, 1, 0, "u"),
    ("ceil_v1", 1, 1, 0, ""),
    ("cholesky_v1", 1, 1, 0, "b"),
    ("clamp_v1", 3, 1, 0, ""),
    ("collective_broadcast_v1", 1, 1, 0, "ig"),
    ("collective_broadcast_v2", -1, -1, 0, "ibg"),
    ("collective_permute_v1", 1, 1, 0, "iI"),
    ("collective_reduce_v1", -1, -1, 1, "ibgb"),
    ("compare_v1", 2, 1, 0, "Cc"),
    ("complex_v1", 2, 1, 0, ""),
    ("composite_v1", -1, -1, 0, "dssi"),
    ("composite_v2", -1, -1, -1, "dssi"),
    ("concatenate_v1", -1, 1, 0, "i"),
    ("constant_v1", 0, 1, 0, "t"),
    ("convert_v1", 1, 1, 0, ""),
    ("convolution_v1", 2, 1, 0, "iiiiIiiIIiiIIaIBI"),
    ("cosine_v1", 1, 1, 0, ""),
    ("cosine_v2", 1, 1, 0, "u"),
    ("count_leading_zeros_v1", 1, 1, 0, ""),
    ("create_token_v1", 0, 1, 0, ""),
    ("custom_call_v1", -1, -1, 0, "vSsabaaa"),
    ("custom_call_v2", -1, -1, 0, "vSsabaaaa"),
    ("divide_v1", 2, 1, 0, ""),
    ("dot_general_v1", 2, 1, 0, "IIaII"),
    ("dot_general_v2", 2, 1, 0, "yOIoIyoaIoIy"),
    ("dot_v1", 2, 1, 0, "a"),
    ("dynamic_broadcast_in_dim_v1", 2, 1, 0, "III"),
    ("dynamic_conv_v1", 3, 1, 0, "iiiiIiiIIiiIIaIBI"),
    ("dynamic_conv_v2", 3, 1, 0, "iiiiIiiIIiiIaIBI"),
    ("dynamic_gather_v1", 3, 1, 0, "IibII"),
    ("dynamic_gather_v2", 3, 1, 0, "IibIIII"),
    ("dynamic_iota_v1", 1, 1, 0, "i"),
    ("dynamic_pad_v1", 5, 1, 0, ""),
    ("dynamic_reshape_v1", 2, 1, 0, ""),
    ("dynamic_slice_v1", -2, 1, 0, "I"),
    ("dynamic_update_slice_v1", -3, 1, 0, ""),
    ("einsum_v1", 2, 1, 0, "s"),
    ("exponential_minus_one_v1", 1, 1, 0, ""),
    ("exponential_minus_one_v2", 1, 1, 0, "u"),
    ("exponential_v1", 1, 1, 0, ""),
    ("exponential_v2", 1, 1, 0, "u"),
    ("fft_v1", 1, 1, 0, "If"),
    ("floor_v1", 1, 1, 0, ""),
    ("func_v1", 0, 0, 1, "ayass"),
    ("gather_v1", 2, 1, 0, "IibIII"),
    ("gather_v2", 2, 1, 0, "IibIIIII"),
    ("get_dimension_size_v1", 1, 1, 0, "i"),
    ("get_tuple_element_v1", 1, 1, 0, "i"),
    ("if_v1", 1, -1, 2, ""),
    ("imag_v1", 1, 1, 0, ""),
    ("infeed_v1", 1, -1, 0, "sa"),
    ("iota_v1", 0, 1, 0, "i"),
    ("is_finite_v1", 1, 1, 0, ""),
    ("log_plus_one_v1", 1, 1, 0, ""),
    ("log_plus_one_v2", 1, 1, 0, "u"),
    ("log_v1", 1, 1, 0, ""),
    ("log_v2", 1, 1, 0, "u"),
    ("logistic_v1", 1, 1, 0, ""),
    ("logistic_v2", 1, 1, 0, "u"),
    ("map_v1", -1, 1, 1, "I"),
    ("maximum_v1", 2, 1, 0, ""),
    ("minimum_v1", 2, 1, 0, ""),
    ("multiply_v1", 2, 1, 0, ""),
    ("negate_v1", 1, 1, 0, ""),
    ("not_v1", 1, 1, 0, ""),
    ("optimization_barrier_v1", -1, -1, 0, ""),
    ("or_v1", 2, 1, 0, ""),
    ("outfeed_v1", -2, 1, 0, "s"),
    ("pad_v1", 2, 1, 0, "III"),
    ("partition_id_v1", 0, 1, 0, ""),
    ("popcnt_v1", 1, 1, 0, ""),
    ("power_v1", 2, 1, 0, ""),
    ("real_dynamic_slice_v1", 4, 1, 0, ""),
    ("real_v1", 1, 1, 0, ""),
    ("recv_v1", 1, -1, 0, "iib"),
    ("recv_v2", 1, -1, 0, "iibI"),
    ("reduce_precision_v1", 1, 1, 0, "ii"),
    ("reduce_scatter_v1", 1, 1, 1, "igib"),
    ("reduce_v1", -1, -1, 1, "I"),
    ("reduce_window_v1", -1, -1, 1, "IIIII"),
    ("remainder_v1", 2, 1, 0, ""),
    ("replica_id_v1", 0, 1, 0, ""),
    ("reshape_v1", 1, 1, 0, ""),
    ("return_v1", -1, 0, 0, ""),
    ("reverse_v1", 1, 1, 0, "I"),
    ("rng_bit_generator_v1", 1, 2, 0, "r"),
    ("rng_v1", 3, 1, 0, "R"),
    ("round_nearest_afz_v1", 1, 1, 0, ""),
    ("round_nearest_even_v1", 1, 1, 0, ""),
    ("rsqrt_v1", 1, 1, 0, ""),
    ("rsqrt_v2", 1, 1, 0, "u"),
    ("scatter_v1", -2, -1, 1, "ibIIbI"),
    ("scatter_v2", -2, -1, 1, "ibIIIIbI"),
    ("select_and_scatter_v1", 3, 1, 2, "III"),
    ("select_v1", 3, 1, 0, ""),
    ("send_v1", -2, 1, 0, "iib"),
    ("send_v2", -2, 1, 0, "iibI"),
    ("set_dimension_size_v1", 2, 1, 0, "i"),
    ("shift_left_v1", 2, 1, 0, ""),
    ("shift_right_arithmetic_v1", 2, 1, 0, ""),
    ("shift_right_logical_v1", 2, 1, 0, ""),
    ("sign_v1", 1, 1, 0, ""),
    ("sine_v1", 1, 1, 0, ""),
    ("sine_v2", 1, 1, 0, "u"),
    ("slice_v1", 1, 1, 0, "III"),
    ("sort_v1", -1, -1, 1, "ib"),
    ("sqrt_v1", 1, 1, 0, ""),
    ("sqrt_v2", 1, 1, 0, "u"),
    ("subtract_v1", 2, 1, 0, ""),
    ("tan_v1", 1, 1, 0, ""),
    ("tan_v2", 1, 1, 0, "u"),
    ("tanh_v1", 1, 1, 0, ""),
    ("tanh_v2", 1, 1, 0, "u"),
    ("torch_index_select_v1", 2, 1, 0, "ii"),
    ("transpose_v1", 1, 1, 0, "I"),
    ("triangular_solve_v1", 2, 1, 0, "bbTb"),
    ("tuple_v1", -1, 1, 0, ""),
    ("unary_einsum_v1", 1, 1, 0, "s"),
    ("uniform_dequantize_v1", 1, 1, 0, ""),
    ("uniform_quantize_v1", 1, 1, 0, ""),
    ("while_v1", -1, -1, 2, ""),
    ("xor_v1", 2, 1, 0, ""),];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(OPERATIONS.is_sorted_by_key(|row| row.0));
    }

    #[test]
    fn counts() {
        let shape = |name: &str| Shape::of(name.as_bytes()).unwrap();
        assert!(shape("add_v1").fits(2, 1, 0));
        assert!(!shape("add_v1").fits(3, 1, 0));
        assert!(shape("after_all_v1").fits(0, 1, 0));
        assert!(!shape("dynamic_slice_v1").fits(0, 1, 0));
        assert!(shape("dynamic_slice_v1").fits(3, 1, 0));
        assert!(Shape::of(b"add_v9").is_none());
    }
}
