// SPDX-License-Identifier: GPL-2.0-or-later
// panics [FRAMES [TIMES]]: panics through FRAMES frames that own something, caught by catch_unwind,
// resumed once, and panics that end a thread.
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

static AROUND: AtomicUsize = AtomicUsize::new(0);
static DESCEND: AtomicUsize = AtomicUsize::new(0);
static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, SeqCst);
    }
}

#[no_mangle]
#[inline(never)]
pub extern "Rust" fn descend(n: usize) -> usize {
    let _guard = Guard;
    DESCEND.fetch_add(1, SeqCst);
    if n > 1 {
        descend(n - 1) + 1
    } else {
        panic!("bottom")
    }
}

#[no_mangle]
#[inline(never)]
pub extern "Rust" fn around(frames: usize) -> bool {
    AROUND.fetch_add(1, SeqCst);
    let again = panic::catch_unwind(|| {
        let first = panic::catch_unwind(|| descend(frames));
        if let Err(payload) = first {
            panic::resume_unwind(payload)
        }
    });
    again.is_err()
}

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let frames = *numbers.get(0).unwrap_or(&10);
    let times = *numbers.get(1).unwrap_or(&10);

    panic::set_hook(Box::new(|_| {}));
    let caught = (0..times).filter(|_| around(frames)).count();
    let ended = (0..times)
        .filter(|_| std::thread::spawn(move || descend(frames)).join().is_err())
        .count();
    println!("caught {} ended {} dropped {}", caught, ended, DROPPED.load(SeqCst));
    println!("COUNT around {}", AROUND.load(SeqCst));
    println!("COUNT descend {}", DESCEND.load(SeqCst));
}
