// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0
//! krabka-protocol: owned messages copy strings, borrowed ones point into the input.
//!
//! It decodes the records of Fetch and Produce as batches, so it has no case whose
//! records are opaque bytes.

use krabka_protocol::records::{RecordBatch, RecordBatchBorrowed};
use krabka_protocol::{Decode, DecodeBorrow, Encode, borrowed, owned};

use crate::crates::messages;
use crate::tasks::{Input, Records, Sink, Task};

struct Owned;

impl Records for Owned {
    type Batches = Vec<RecordBatch>;

    fn decode(input: &Input) -> Self::Batches {
        let mut rest = input.slice;
        let mut found = Vec::new();
        while !rest.is_empty() {
            found.push(RecordBatch::decode_batch(&mut rest).expect("a batch"));
        }
        found
    }

    fn visit(batches: &Self::Batches, sink: &mut impl Sink) {
        for batch in batches {
            for record in &batch.records {
                sink.record(
                    batch.base_offset + i64::from(record.offset_delta),
                    batch.base_timestamp + record.timestamp_delta,
                    record.key.as_deref(),
                    record.value.as_deref(),
                    record.headers.len(),
                );
            }
        }
    }
}

struct Borrowed;

impl Records for Borrowed {
    type Batches = Vec<RecordBatchBorrowed<'static>>;

    fn decode(input: &Input) -> Self::Batches {
        let mut rest = input.slice;
        let mut found = Vec::new();
        while !rest.is_empty() {
            found.push(RecordBatchBorrowed::decode_borrow(&mut rest, 0).expect("a batch"));
        }
        found
    }

    fn visit(batches: &Self::Batches, sink: &mut impl Sink) {
        for batch in batches {
            let offset = batch.header().base_offset.get();
            let timestamp = batch.header().base_timestamp.get();
            for record in batch.iter() {
                let record = record.expect("a record");
                sink.record(
                    offset + i64::from(record.offset_delta),
                    timestamp + record.timestamp_delta,
                    record.key,
                    record.value,
                    record.headers.len(),
                );
            }
        }
    }
}

macro_rules! encode {
    ($message:expr, $buffer:expr, $version:expr) => {
        $message.encode($buffer, $version).expect("bytes")
    };
}

pub fn serve_owned(case: &str, task: &Task) -> Option<String> {
    macro_rules! decode {
        ($kind:ty, $input:expr, $version:expr) => {
            <$kind as Decode>::decode(&mut $input.bytes.clone(), $version).expect("a message")
        };
    }
    task.records::<Owned>().or_else(|| {
        messages!(
            case, task, decode, encode;
            "api_versions_v3": owned::api_versions_response::ApiVersionsResponse, 3, add_api_versions;
            "metadata_v9_ids": owned::metadata_response::MetadataResponse, 9, add_metadata;
            "offset_fetch_v8": owned::offset_fetch_response::OffsetFetchResponse, 8, add_offset_fetch;
            "heartbeat_v4": owned::heartbeat_request::HeartbeatRequest, 4, add_heartbeat;
        )
    })
}

pub fn serve_borrowed(case: &str, task: &Task) -> Option<String> {
    macro_rules! decode {
        ($kind:ty, $input:expr, $version:expr) => {{
            let mut slice = $input.slice;
            <$kind as DecodeBorrow>::decode_borrow(&mut slice, $version).expect("a message")
        }};
    }
    task.records::<Borrowed>().or_else(|| {
        messages!(
            case, task, decode, encode;
            "api_versions_v3": borrowed::api_versions_response::ApiVersionsResponse, 3, add_api_versions;
            "metadata_v9_ids": borrowed::metadata_response::MetadataResponse, 9, add_metadata;
            "offset_fetch_v8": borrowed::offset_fetch_response::OffsetFetchResponse, 8, add_offset_fetch;
            "heartbeat_v4": borrowed::heartbeat_request::HeartbeatRequest, 4, add_heartbeat;
        )
    })
}
