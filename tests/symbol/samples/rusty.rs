// SPDX-License-Identifier: GPL-3.0-or-later
use std::collections::HashMap;

trait Speak {
    fn speak(&self) -> String;
}

struct Dog<T>(T);

impl<T: std::fmt::Debug> Speak for Dog<T> {
    #[inline(never)]
    fn speak(&self) -> String {
        format!("{:?}", self.0)
    }
}

#[inline(never)]
fn count(words: &[String]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for word in words {
        *counts.entry(word.as_str()).or_insert(0) += 1;
    }
    counts
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let animals: Vec<Box<dyn Speak>> = vec![Box::new(Dog(1)), Box::new(Dog("x"))];
    println!("{} {}", count(&words).len(), animals.iter().map(|a| a.speak()).collect::<String>());
}
