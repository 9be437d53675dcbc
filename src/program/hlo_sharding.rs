//! XLA's own form of a sharding, a protobuf message: JAX before 0.9 wrote it into exports, and
//! plugins tell it of the programs that they have compiled.

/// `{replicated}`, `{maximal device=1}`, `{devices=[2,1]<=[2]}`, as XLA prints it. `None`
/// when the bytes are no such message.
pub fn show(proto: &[u8]) -> Option<String> {
    let sharding = Message::read(proto)?;
    Some(match sharding.kind {
        0 => "{replicated}".to_owned(),
        1 => format!("{{maximal device={}}}", sharding.devices.first()?),
        2 => "{tuple}".to_owned(),
        3 => tiled(&sharding),
        4 => "{manual}".to_owned(),
        5 => "{unknown}".to_owned(),
        6 => "{unreduced}".to_owned(),
        other => format!("{{kind {other}}}"),
    })
}

/// Where in an array of this rank the part of a device begins, counted in parts: zeros
/// where every device has all of it. `device` is a position among `device_count`. `None`
/// when the bytes do not say, and for a device that has nothing of it.
pub fn part_of(proto: &[u8], device: usize, device_count: usize, rank: usize) -> Option<Vec<u64>> {
    let sharding = Message::read(proto)?;
    match sharding.kind {
        0 => Some(vec![0; rank]),
        // All on one device: what the others hold has no meaning.
        1 => (usize::try_from(*sharding.devices.first()?) == Ok(device)).then(|| vec![0; rank]),
        3 => sharding.part_of(device, device_count, rank),
        _ => None,
    }
}

fn tiled(sharding: &Message) -> String {
    let devices = match &sharding.reshape[..] {
        [] => joined(&sharding.devices),
        [_] => format!("<=[{}]", joined(&sharding.reshape)),
        dims => format!("<=[{}]T({})", joined(dims), joined(&sharding.transpose)),
    };
    let last = match &sharding.last_dims[..] {
        _ if sharding.replicates_last => " last_tile_dim_replicate".to_owned(),
        [] => String::new(),
        [0] => " last_tile_dim_replicate".to_owned(),
        kinds => {
            let kinds = kinds.iter().map(|kind| match kind {
                0 => "replicated",
                1 => "maximal",
                4 => "manual",
                6 => "unreduced",
                _ => "unknown",
            });
            format!(" last_tile_dims={{{}}}", kinds.collect::<Vec<_>>().join(", "))
        }
    };
    format!("{{devices=[{}]{devices}{last}}}", joined(&sharding.tiles))
}

fn joined(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// The fields of an `OpSharding` that matter here.
#[derive(Default)]
struct Message {
    kind: u64,
    tiles: Vec<u64>,
    devices: Vec<u64>,
    replicates_last: bool,
    last_dims: Vec<u64>,
    reshape: Vec<u64>,
    transpose: Vec<u64>,
}

impl Message {
    /// Where the tile of a device lies among the tiles.
    fn part_of(&self, device: usize, device_count: usize, rank: usize) -> Option<Vec<u64>> {
        // Of other kinds than replicated, devices have different things that are no parts.
        if self.last_dims.iter().any(|&kind| kind != 0) {
            return None;
        }
        let count = product(&self.tiles).filter(|&count| count == device_count)?;
        let place = match &self.reshape[..] {
            [] => self.devices.iter().position(|&one| usize::try_from(one) == Ok(device)),
            _ if product(&self.reshape) != Some(count) => None,
            _ => (0..count).find(|&place| self.device_at(place) == Some(device)),
        }?;
        // Tiles behind the array's own dimensions hold the same part.
        let mut rest = place as u64;
        let mut part = vec![0; self.tiles.len()];
        for (index, &tiles) in self.tiles.iter().enumerate().rev() {
            part[index] = rest % tiles;
            rest /= tiles;
        }
        part.truncate(rank);
        (part.len() == rank).then_some(part)
    }

    /// The device at a place in the list of tiles, when they are numbered in the order of
    /// `reshape` and then transposed.
    fn device_at(&self, place: usize) -> Option<usize> {
        let identity: Vec<u64> = (0..self.reshape.len() as u64).collect();
        let order = if self.transpose.is_empty() { &identity } else { &self.transpose };
        let mut rest = place as u64;
        let mut at = vec![0; self.reshape.len()];
        for &dimension in order.iter().rev() {
            let size = *self.reshape.get(usize::try_from(dimension).ok()?)?;
            *at.get_mut(dimension as usize)? = rest % size;
            rest /= size;
        }
        let device = at.iter().zip(&self.reshape).fold(0, |device, (index, size)| device * size + index);
        usize::try_from(device).ok()
    }

    fn read(mut bytes: &[u8]) -> Option<Message> {
        let mut message = Message::default();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes)?;
            let numbers = match tag & 7 {
                0 => vec![varint(&mut bytes)?],
                1 => skip(&mut bytes, 8)?,
                2 => {
                    let size = usize::try_from(varint(&mut bytes)?).ok()?;
                    let content = bytes.split_off(..size)?;
                    match tag >> 3 {
                        3 | 4 | 8 | 9 | 10 => packed(content)?,
                        _ => continue,
                    }
                }
                5 => skip(&mut bytes, 4)?,
                _ => return None,
            };
            let list = match tag >> 3 {
                1 => {
                    message.kind = *numbers.last()?;
                    continue;
                }
                6 => {
                    message.replicates_last = *numbers.last()? != 0;
                    continue;
                }
                3 => &mut message.tiles,
                4 => &mut message.devices,
                8 => &mut message.last_dims,
                9 => &mut message.reshape,
                10 => &mut message.transpose,
                _ => continue,
            };
            list.extend(numbers);
        }
        Some(message)
    }
}

fn skip(bytes: &mut &[u8], size: usize) -> Option<Vec<u64>> {
    bytes.split_off(..size).map(|_| Vec::new())
}

fn packed(mut bytes: &[u8]) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        numbers.push(varint(&mut bytes)?);
    }
    Some(numbers)
}

/// The product, of which none is 0.
fn product(numbers: &[u64]) -> Option<usize> {
    let all = numbers.iter().try_fold(1u64, |all, &one| all.checked_mul(one))?;
    usize::try_from(all).ok().filter(|&all| all > 0)
}

/// Seven bits a byte, the lowest first; the last byte has no high bit.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_xla_prints_them() {
        let cases: [(&[u8], &str); 12] = [
            (&[], "{replicated}"),
            (&[8, 1, 0x22, 1, 3], "{maximal device=3}"),
            (&[8, 2], "{tuple}"),
            (&[8, 4], "{manual}"),
            (&[8, 5], "{unknown}"),
            (&[8, 9], "{kind 9}"),
            (&[8, 3, 0x1a, 2, 2, 1, 0x22, 2, 1, 0], "{devices=[2,1]1,0}"),
            (&[8, 3, 0x18, 2, 0x18, 1, 0x4a, 1, 2], "{devices=[2,1]<=[2]}"),
            (&[8, 3, 0x1a, 2, 2, 2, 0x30, 1, 0x4a, 1, 4], "{devices=[2,2]<=[4] last_tile_dim_replicate}"),
            (&[8, 3, 0x1a, 2, 2, 2, 0x4a, 2, 2, 2, 0x52, 2, 1, 0], "{devices=[2,2]<=[2,2]T(1,0)}"),
            (
                &[8, 3, 0x1a, 1, 2, 0x4a, 1, 2, 0x42, 2, 4, 0],
                "{devices=[2]<=[2] last_tile_dims={manual, replicated}}",
            ),
            // With metadata, a group and other fields of every width.
            (&[0x3a, 1, 9, 8, 0, 0x59, 0, 0, 0, 0, 0, 0, 0, 0, 0x5d, 0, 0, 0, 0, 0xa0, 1, 7], "{replicated}"),
        ];
        for (proto, shown) in cases {
            assert_eq!(show(proto).as_deref(), Some(shown), "{proto:?}");
        }
    }

    #[test]
    fn parts_of_devices() {
        let parts = |proto: &[u8], count: usize, rank: usize| {
            (0..count).map(|device| part_of(proto, device, count, rank)).collect::<Option<Vec<_>>>()
        };
        let two = |a: u64, b: u64| vec![a, b];
        assert_eq!(parts(&[], 2, 2), Some(vec![two(0, 0); 2]));
        // {maximal device=1}
        let alone = [0, 1].map(|device| part_of(&[8, 1, 0x22, 1, 1], device, 2, 2));
        assert_eq!(alone, [None, Some(two(0, 0))]);
        // {devices=[2,1]1,0}
        let swapped = parts(&[8, 3, 0x1a, 2, 2, 1, 0x22, 2, 1, 0], 2, 2);
        assert_eq!(swapped, Some(vec![two(1, 0), two(0, 0)]));
        // {devices=[2,2]<=[4]}
        let rows = parts(&[8, 3, 0x1a, 2, 2, 2, 0x4a, 1, 4], 4, 2);
        assert_eq!(rows, Some(vec![two(0, 0), two(0, 1), two(1, 0), two(1, 1)]));
        // {devices=[2,2]<=[2,2]T(1,0)}
        let columns = parts(&[8, 3, 0x1a, 2, 2, 2, 0x4a, 2, 2, 2, 0x52, 2, 1, 0], 4, 2);
        assert_eq!(columns, Some(vec![two(0, 0), two(1, 0), two(0, 1), two(1, 1)]));
        // {devices=[2,2]<=[4] last_tile_dim_replicate}, of one dimension
        let pairs = parts(&[8, 3, 0x1a, 2, 2, 2, 0x30, 1, 0x4a, 1, 4], 4, 1);
        assert_eq!(pairs, Some(vec![vec![0], vec![0], vec![1], vec![1]]));
        // {devices=[2,2]<=[4] last_tile_dims={replicated}}
        assert_eq!(parts(&[8, 3, 0x1a, 2, 2, 2, 0x4a, 1, 4, 0x42, 1, 0], 4, 1), pairs);
        // Manual, wholly or in the last dimension, of more devices, of a higher rank, with a device that is not there, with
        // no tiles, and with dimensions that are none.
        for (bad, count, rank) in [
            (&[8, 4][..], 2, 2),
            (&[8, 3, 0x1a, 2, 2, 2, 0x4a, 1, 4, 0x42, 1, 4], 4, 1),
            (&[8, 3, 0x1a, 2, 2, 2, 0x4a, 1, 4], 2, 2),
            (&[8, 3, 0x1a, 2, 2, 1, 0x22, 2, 1, 0], 2, 3),
            (&[8, 3, 0x1a, 2, 2, 1, 0x22, 2, 1, 5], 2, 2),
            (&[8, 3, 0x1a, 2, 0, 0, 0x4a, 1, 4], 4, 2),
            (&[8, 3], 1, 0),
            (&[8, 3, 0x1a, 2, 2, 2, 0x4a, 2, 2, 2, 0x52, 2, 9, 0], 4, 2),
            (&[8, 3, 0x1a, 2, 2, 2, 0x4a, 2, 2, 1], 4, 2),
        ] {
            assert_eq!(parts(bad, count, rank), None, "{bad:?}");
        }
    }

    #[test]
    fn other_bytes() {
        for bad in [&[8][..], &[8, 0xff], &[0x1a, 9, 1], &[0x1a, 1, 0xff], &[0x0b], &[8, 1]] {
            assert_eq!(show(bad), None, "{bad:?}");
        }
        assert_eq!(show(&[[0xff; 10].as_slice(), &[0]].concat()), None);
    }
}
