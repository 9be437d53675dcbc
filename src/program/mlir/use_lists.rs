//! The orders in which values list their uses.
//!
//! A file gives one where it differs from the order of the operations. Plugins write
//! by its numbers without a check.

use super::cursor::Cursor;
use super::walk::Value;
use crate::order;

/// An order that was read before all uses of its value were.
struct UseList<'a> {
    value: usize,
    numbers: Cursor<'a>,
    count: usize,
    /// Pairs of numbers that change places, instead of all numbers.
    is_pairs: bool,
}

/// The orders of the values that are in sight.
#[derive(Default)]
pub struct UseLists<'a>(Vec<UseList<'a>>);

impl<'a> UseLists<'a> {
    /// Reads the orders of some of `values`, of which the first is at `first`.
    pub fn read(&mut self, cursor: &mut Cursor<'a>, first: usize, values: &mut [Value]) -> Option<()> {
        let is_one = values.len() <= 1;
        let lists = if is_one { 1 } else { cursor.count()? };
        for _ in 0..lists {
            let position = if is_one { 0 } else { cursor.index(values.len())? as usize };
            let is_second = std::mem::replace(&mut values.get_mut(position)?.has_use_list, true);
            let (length, is_pairs) = cursor.flagged()?;
            let length = cursor.bounded(length)?;
            let numbers = *cursor;
            for _ in 0..length {
                cursor.number()?;
            }
            if is_second {
                return None;
            }
            self.0.push(UseList { value: first + position, numbers, count: length, is_pairs });
        }
        Some(())
    }

    /// Checks the orders of the values from `start` on, of which every use is known.
    pub fn check_from(&mut self, start: usize, values: &[Value]) -> Option<()> {
        let mut places = Vec::new();
        while let Some(list) = self.0.pop_if(|list| list.value >= start) {
            let uses = values.get(list.value)?.uses as usize;
            // Those of one use are not looked at.
            if uses > 1 && !list.is_order(uses, &mut places)? {
                return None;
            }
        }
        Some(())
    }
}

impl UseList<'_> {
    fn is_order(&self, uses: usize, places: &mut Vec<u32>) -> Option<bool> {
        let mut numbers = self.numbers;
        places.clear();
        if self.is_pairs {
            if !self.count.is_multiple_of(2) {
                return Some(false);
            }
            places.extend(0..uses as u32);
            for _ in 0..self.count / 2 {
                let from = numbers.index(uses)?;
                places[from as usize] = numbers.index(uses)?;
            }
        } else if self.count == uses {
            for _ in 0..uses {
                places.push(numbers.index(uses)?);
            }
        } else {
            return Some(false);
        }
        order::sort(places);
        Some(places.iter().enumerate().all(|(position, &place)| position == place as usize))
    }
}
