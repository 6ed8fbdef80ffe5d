// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0
//! Checksums of decoded values, the same in every language.

use bytes::Bytes;

const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A checksum of values in wire order.
pub struct Sum(pub u64);

impl Sum {
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub fn number(&mut self, value: i64) {
        self.0 = (self.0 ^ value as u64).wrapping_mul(PRIME);
    }

    pub fn data(&mut self, data: &[u8]) {
        self.number(data.len() as i64);
        self.number(i64::from(crc32fast::hash(data)));
    }

    pub fn maybe(&mut self, data: Option<&[u8]>) {
        match data {
            Some(data) => self.data(data),
            None => self.number(-1),
        }
    }
}

/// A value that a checksum takes.
pub trait Field {
    fn add(&self, sum: &mut Sum);
}

macro_rules! number_fields {
    ($($kind:ty),*) => {
        $(impl Field for $kind {
            fn add(&self, sum: &mut Sum) {
                sum.number(i64::from(*self));
            }
        })*
    };
}
number_fields!(bool, i16, i32, i64);

macro_rules! data_fields {
    ($($kind:ty),*) => {
        $(impl Field for $kind {
            fn add(&self, sum: &mut Sum) {
                sum.data(self.as_ref());
            }
        })*
    };
}
data_fields!(Bytes, String, &str);

impl<T: Field> Field for Option<T> {
    fn add(&self, sum: &mut Sum) {
        match self {
            Some(value) => value.add(sum),
            None => sum.number(-1),
        }
    }
}

impl<T: Field> Field for Vec<T> {
    fn add(&self, sum: &mut Sum) {
        sum.number(self.len() as i64);
        self.iter().for_each(|value| value.add(sum));
    }
}
