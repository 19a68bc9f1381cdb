// SPDX-License-Identifier: GPL-3.0-or-later
//! Functions of slices, strings, vectors and enumerations, with data that the test knows.

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Sum,
    Count,
}

pub struct Item {
    pub name: String,
    pub numbers: Vec<u32>,
    pub kind: Kind,
    pub next: Option<Box<Item>>,
}

#[no_mangle]
#[inline(never)]
pub fn total(v: &[u32], scale: u64) -> u64 {
    v.iter().map(|x| *x as u64 * scale).sum()
}

#[no_mangle]
#[inline(never)]
pub fn walk(item: &Item, times: u32) -> u64 {
    let mut sum = item.next.is_some() as u64;
    for _ in 0..times {
        for x in &item.numbers {
            sum += *x as u64;
        }
    }
    if item.kind == Kind::Sum {
        sum
    } else {
        item.name.len() as u64
    }
}

#[no_mangle]
#[inline(never)]
pub fn measure(text: &str, factor: f64, counts: bool) -> usize {
    let sum: usize = text.bytes().map(|c| c as usize).sum();
    if counts {
        sum
    } else {
        factor as usize
    }
}

fn main() {
    let mut sum = 0;
    for i in 0..40u32 {
        let numbers: Vec<u32> = (0..i * 5).collect();
        sum += total(&numbers, 3);
        let kind = if i % 2 == 0 { Kind::Sum } else { Kind::Count };
        let name = "x".repeat(i as usize);
        sum += walk(&Item { name, numbers, kind, next: None }, i % 3);
        sum += measure(&"y".repeat(i as usize * 3), 0.5 * i as f64, i % 3 == 0) as u64;
    }
    println!("{}", sum);
}
