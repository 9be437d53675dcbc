//! What a host sets for its threads and plugins do not stand: cancellation, which
//! unwinds through frames that forbid it, and floating-point traps, which code with
//! vector instructions runs into on lanes that it does not use.

/// The state of the calling thread, put back when this goes.
pub(super) struct HostState {
    cancel: libc::c_int,
    float: Option<float::Control>,
}

unsafe extern "C" {
    fn pthread_setcancelstate(state: libc::c_int, old: *mut libc::c_int) -> libc::c_int;
}

/// The same number in glibc and musl.
const CANCEL_DISABLE: libc::c_int = 1;

impl HostState {
    /// From now on the thread is not cancelled and does not trap.
    #[inline(always)]
    pub(super) fn shield() -> HostState {
        let mut cancel = 0;
        // SAFETY: `cancel` is writable.
        unsafe { pthread_setcancelstate(CANCEL_DISABLE, &mut cancel) };
        HostState { cancel, float: float::Control::mask_traps() }
    }
}

impl Drop for HostState {
    fn drop(&mut self) {
        if let Some(control) = self.float.take() {
            control.restore();
        }
        // SAFETY: the state is what the same function gave; NULL is allowed.
        unsafe { pthread_setcancelstate(self.cancel, std::ptr::null_mut()) };
    }
}

#[cfg(target_arch = "x86_64")]
mod float {
    use std::arch::asm;

    /// Bits of the control register that keep an exception from trapping.
    const MASKS: u32 = 0x1f80;

    /// The host's control register.
    pub struct Control(u32);

    impl Control {
        /// Masks every trap; `None` if all are masked, as they are in most hosts.
        #[inline(always)]
        pub fn mask_traps() -> Option<Control> {
            let host = read();
            if host & MASKS == MASKS {
                return None;
            }
            write(host | MASKS);
            Some(Control(host))
        }

        /// Puts the host's register back.
        pub fn restore(self) {
            write(self.0);
        }
    }

    #[inline(always)]
    fn read() -> u32 {
        let mut value = 0;
        // SAFETY: stores the register in `value`.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
        value
    }

    fn write(value: u32) {
        // SAFETY: the value is the register's own with traps masked, or as it was; no
        // Rust code in between depends on traps.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags, readonly))
        };
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn traps_are_masked_and_put_back() {
            let before = read();
            write(before & !0x200); // division by zero traps
            let control = Control::mask_traps().unwrap();
            assert_eq!(read() & MASKS, MASKS);
            control.restore();
            assert_eq!(read() & 0x200, 0);
            write(before);
            assert!(Control::mask_traps().is_none());
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod float {
    /// Other machines' traps are left alone.
    pub struct Control;

    impl Control {
        pub fn mask_traps() -> Option<Control> {
            None
        }

        pub fn restore(self) {}
    }
}
