//! Compares results with those of another version of XLA: bit for bit, or within a
//! tolerance where versions compute a little differently.

use cyxla::dtype::DType;

/// Says where `got` is not `want`. Floats may differ by `tolerance` times the largest
/// number in `want`.
pub fn differs(dtype: DType, want: &[u8], got: &[u8], tolerance: f64) -> Option<String> {
    assert_eq!(want.len(), got.len());
    let parts = (tolerance > 0.0).then(|| numbers(dtype, want).zip(numbers(dtype, got))).flatten();
    let Some((want, got)) = parts else {
        let place = want.iter().zip(got).position(|(want, got)| want != got)?;
        let element = place / dtype.host_size();
        return Some(format!("element {element} of {}: byte {place} is {}", dtype.name(), got[place]));
    };
    let finite = want.iter().copied().filter(|number| number.is_finite());
    let room = tolerance * finite.map(f64::abs).fold(0.0, f64::max);
    let is_same =
        |want: f64, got: f64| want == got || (want - got).abs() <= room || (want.is_nan() && got.is_nan());
    let place = want.iter().zip(&got).position(|(&want, &got)| !is_same(want, got))?;
    Some(format!("number {place} is {}, want {} within {room:e}", got[place], want[place]))
}

/// The numbers of an array of floats, of which a complex number has two.
fn numbers(dtype: DType, bytes: &[u8]) -> Option<Vec<f64>> {
    let of = |size: usize, read: fn(&[u8]) -> f64| Some(bytes.chunks_exact(size).map(read).collect());
    match dtype {
        DType::F64 | DType::C128 => of(8, |bytes| f64::from_le_bytes(bytes.try_into().expect("8 bytes"))),
        DType::F32 | DType::C64 => {
            of(4, |bytes| f32::from_le_bytes(bytes.try_into().expect("4 bytes")).into())
        }
        DType::BF16 => of(2, |bytes| f32::from_le_bytes([0, 0, bytes[0], bytes[1]]).into()),
        DType::F16 => of(2, |bytes| half(u16::from_le_bytes([bytes[0], bytes[1]]))),
        _ => None,
    }
}

fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
    sign * match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

#[test]
fn floats_may_differ_a_little_and_nothing_else_may() {
    let bytes = |values: [f32; 2]| values.map(f32::to_le_bytes).concat();
    let want = bytes([100.0, 1.0]);
    assert_eq!(differs(DType::F32, &want, &want, 0.0), None);
    assert_eq!(differs(DType::F32, &want, &bytes([100.0, 1.05]), 1e-3), None);
    assert!(differs(DType::F32, &want, &bytes([100.0, 1.2]), 1e-3).is_some());
    assert!(differs(DType::F32, &want, &bytes([100.0, 1.05]), 0.0).is_some());
    assert!(differs(DType::F32, &want, &bytes([f32::NAN, 1.0]), 1e-3).is_some());
    assert_eq!(differs(DType::F32, &bytes([f32::NAN, 1.0]), &bytes([-f32::NAN, 1.0]), 1e-3), None);
    assert!(differs(DType::F32, &bytes([f32::INFINITY, 1.0]), &bytes([f32::MAX, 1.0]), 1e-3).is_some());
    assert!(differs(DType::S32, &[1, 0, 0, 0], &[2, 0, 0, 0], 1.0).is_some());
    assert!(differs(DType::BF16, &[0x80, 0x3f], &[0x81, 0x3f], 0.01).is_none());
    assert!(differs(DType::F16, &[0, 0x3c], &[0, 0x3d], 0.01).is_some());
}
