// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0
//! With the allocator that programs have when they choose none.

fn main() {
    languages::serve();
}
