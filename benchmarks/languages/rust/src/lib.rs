// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0
//! Serves the crates of Rust to benchmarks/languages: checks, loops and memory.
//!
//! A program reads requests from standard input, a line each, and answers with a line.
//! The parent reads the clock. What a crate does is in the module of the crate; the
//! global allocator is chosen by each program of `bin`.

mod crates;
mod sums;
mod tasks;

use std::collections::HashMap;
use std::io::{BufRead, Write};

pub use tasks::{ALLOCATED, PEAK};
use tasks::{Action, Input, Task};

/// Answers requests until the input ends: `ACTION CRATE OPERATION CASE [LOOPS]`.
pub fn serve() {
    let folder = std::env::args().nth(1).expect("usage: PROGRAM FOLDER");
    let mut inputs: HashMap<String, Input> = HashMap::new();
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let words: Vec<&str> = line.split(' ').collect();
        let [action, name, operation, case, rest @ ..] = &words[..] else {
            panic!("not a request: {line}");
        };
        let action = match *action {
            "check" => Action::Check,
            "run" => Action::Run(rest[0].parse().expect("a number of loops")),
            "memory" => Action::Memory,
            _ => panic!("not an action: {line}"),
        };
        let input = inputs
            .entry((*case).to_string())
            .or_insert_with(|| Input::read(&format!("{folder}/{case}.bin")));
        let task = Task {
            action,
            operation,
            input,
        };
        let answer = crates::serve(name, case, &task).unwrap_or_else(|| "none".to_string());
        writeln!(output, "{answer}").expect("a reader");
        output.flush().expect("a reader");
    }
}
