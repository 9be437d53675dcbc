//! Sorting without the code of the standard library's sort, of which each type would get
//! some ten kilobytes of its own; what is sorted here are lists that nobody waits for.

/// Sorts a list; items of which neither is before the other end up in any order.
pub fn sort_by<T>(items: &mut [T], mut is_before: impl FnMut(&T, &T) -> bool) {
    // A heap with the last item on top, which is then moved to the end again and again.
    for start in (0..items.len() / 2).rev() {
        sift(items, start, &mut is_before);
    }
    for end in (1..items.len()).rev() {
        items.swap(0, end);
        sift(&mut items[..end], 0, &mut is_before);
    }
}

/// Sorts a list by its own order.
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, |one, other| one < other);
}

/// Sorts a short list; items of which neither is before the other stay as they are.
pub fn sort_stably<T>(items: &mut [T], mut is_before: impl FnMut(&T, &T) -> bool) {
    for end in 1..items.len() {
        let mut place = end;
        while place > 0 && is_before(&items[place], &items[place - 1]) {
            items.swap(place, place - 1);
            place -= 1;
        }
    }
}

fn sift<T>(items: &mut [T], mut place: usize, is_before: &mut impl FnMut(&T, &T) -> bool) {
    loop {
        let mut last = 2 * place + 1;
        if last >= items.len() {
            return;
        }
        if last + 1 < items.len() && is_before(&items[last], &items[last + 1]) {
            last += 1;
        }
        if !is_before(&items[place], &items[last]) {
            return;
        }
        items.swap(place, last);
        place = last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_standard_library_sorts() {
        let mut number = 1u32;
        for length in (0..40).chain([1000]) {
            let mut list = Vec::new();
            for index in 0..length {
                number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                list.push((number >> 27, index));
            }
            let mut expected = list.clone();
            expected.sort_by_key(|item| item.0);
            let (mut stable, mut any) = (list.clone(), list);
            sort_stably(&mut stable, |one, other| one.0 < other.0);
            assert_eq!(stable, expected);
            sort(&mut any);
            expected.sort();
            assert_eq!(any, expected);
        }
    }
}
