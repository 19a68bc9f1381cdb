// SPDX-License-Identifier: GPL-3.0-or-later
//! Functions that wait by Rust's library, for times of which lower bounds are known.
use std::sync::{mpsc, Arc, Condvar, Mutex, RwLock};
use std::thread;
use std::time::Duration;

#[no_mangle]
#[inline(never)]
pub fn locks(m: &Mutex<u64>, ms: u64) -> u64 {
    *m.lock().unwrap() + ms
}

#[no_mangle]
#[inline(never)]
pub fn reads(m: &RwLock<u64>, ms: u64) -> u64 {
    *m.read().unwrap() + ms
}

#[no_mangle]
#[inline(never)]
pub fn parks(ms: u64) -> u64 {
    thread::park_timeout(Duration::from_millis(ms));
    ms
}

#[no_mangle]
#[inline(never)]
pub fn awaits(pair: &(Mutex<bool>, Condvar), ms: u64) -> u64 {
    let limit = Duration::from_millis(ms);
    let mut guard = pair.0.lock().unwrap();
    while !*guard {
        let (next, result) = pair.1.wait_timeout(guard, limit).unwrap();
        guard = next;
        *guard |= result.timed_out();
    }
    *guard = false;
    ms
}

/// Another thread has the lock, and sleeps while this one waits for it.
fn while_held<G>(lock: impl FnOnce() -> G + Send + 'static, ms: u64, waits: impl FnOnce()) {
    let (tell, told) = mpsc::channel();
    let holder = thread::spawn(move || {
        let guard = lock();
        tell.send(()).unwrap();
        thread::sleep(Duration::from_millis(ms));
        drop(guard);
    });
    told.recv().unwrap();
    waits();
    holder.join().unwrap();
}

fn main() {
    let mutex: &'static Mutex<u64> = Box::leak(Box::new(Mutex::new(0)));
    let lock: &'static RwLock<u64> = Box::leak(Box::new(RwLock::new(0)));
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    for ms in (0..60).step_by(10) {
        while_held(move || mutex.lock().unwrap(), ms, || drop(locks(mutex, ms)));
        while_held(move || lock.write().unwrap(), ms, || drop(reads(lock, ms)));
        parks(ms);
        awaits(&pair, ms);
    }
}
