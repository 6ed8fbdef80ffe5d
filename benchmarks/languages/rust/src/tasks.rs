// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0
//! What is done with a decoder: its values are summed, it is run in a loop, or weighed.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Bytes, BytesMut};

use crate::sums::Sum;

/// Bytes that are allocated now, where the program counts them.
pub static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
/// The most bytes that were allocated at once.
pub static PEAK: AtomicUsize = AtomicUsize::new(0);

pub enum Action {
    Check,
    Run(u64),
    Memory,
}

/// The bytes of a case: shared by reference counts, and as a slice that lives on.
pub struct Input {
    pub bytes: Bytes,
    pub slice: &'static [u8],
}

impl Input {
    pub fn read(path: &str) -> Self {
        let data = std::fs::read(path).expect("the bytes of the case");
        Self {
            bytes: Bytes::from(data.clone()),
            slice: data.leak(),
        }
    }
}

/// What takes the records of a batch, one by one.
pub trait Sink {
    fn record(
        &mut self,
        offset: i64,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: usize,
    );
}

impl Sink for Sum {
    fn record(
        &mut self,
        offset: i64,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: usize,
    ) {
        self.number(offset);
        self.number(timestamp);
        self.maybe(key);
        self.maybe(value);
        self.number(headers as i64);
    }
}

/// Reads every field of a record, for the clock.
struct Reader(i64);

impl Sink for Reader {
    fn record(
        &mut self,
        offset: i64,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: usize,
    ) {
        let sizes = key.map_or(0, <[u8]>::len) + value.map_or(0, <[u8]>::len) + headers;
        self.0 += offset + timestamp + sizes as i64;
    }
}

/// How a crate decodes record batches.
pub trait Records {
    type Batches;
    fn decode(input: &Input) -> Self::Batches;
    fn visit(batches: &Self::Batches, sink: &mut impl Sink);
}

pub struct Task<'a> {
    pub action: Action,
    pub operation: &'a str,
    pub input: &'a Input,
}

impl Task<'_> {
    /// Serves one kind of message. `encode` writes into a buffer of the right size.
    pub fn message<M>(
        &self,
        decode: impl Fn(&Input) -> M,
        add: impl Fn(&M, &mut Sum),
        encode: impl Fn(&M, &mut BytesMut),
    ) -> Option<String> {
        let write = |message: &M| {
            let mut buffer = BytesMut::with_capacity(self.input.slice.len());
            encode(message, &mut buffer);
            buffer
        };
        match self.operation {
            "decode" => Some(self.decoding(decode, add)),
            "encode" => {
                let message = decode(self.input);
                Some(self.decoding(|_| write(black_box(&message)), |found, sum| sum.data(found)))
            }
            _ => None,
        }
    }

    /// Serves record batches: decode, then read every field of every record.
    pub fn records<R: Records>(&self) -> Option<String> {
        if self.operation != "records" {
            return None;
        }
        let run = |input: &Input| {
            let batches = R::decode(input);
            let mut reader = Reader(0);
            R::visit(&batches, &mut reader);
            (reader.0, batches)
        };
        Some(self.decoding(run, |(_, batches), sum| R::visit(batches, sum)))
    }

    fn decoding<M>(&self, decode: impl Fn(&Input) -> M, add: impl Fn(&M, &mut Sum)) -> String {
        match self.action {
            Action::Check => {
                let mut sum = Sum::new();
                add(&decode(self.input), &mut sum);
                format!("{:016x}", sum.0)
            }
            Action::Run(loops) => {
                for _ in 0..loops {
                    black_box(decode(black_box(self.input)));
                }
                loops.to_string()
            }
            Action::Memory => {
                // What a first call makes once is no part of a message.
                drop(decode(self.input));
                let before = ALLOCATED.load(Ordering::Relaxed);
                PEAK.store(before, Ordering::Relaxed);
                let message = decode(self.input);
                let held = ALLOCATED.load(Ordering::Relaxed) - before;
                let peak = PEAK.load(Ordering::Relaxed) - before;
                drop(black_box(message));
                format!("{held} {peak}")
            }
        }
    }
}
