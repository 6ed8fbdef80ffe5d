// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0
//! kacrab-protocol: strings and byte strings share the input by reference counts.

use kacrab_protocol::KafkaString;
use kacrab_protocol::generated::{
    ApiVersionsResponseData, FetchResponseData, HeartbeatRequestData, MetadataResponseData,
    OffsetFetchResponseData, ProduceRequestData,
};
use kacrab_protocol::record::{RecordBatch, decode_batches};

use crate::crates::messages;
use crate::sums::{Field, Sum};
use crate::tasks::{Input, Records, Sink, Task};

impl Field for KafkaString {
    fn add(&self, sum: &mut Sum) {
        sum.data(self.as_bytes());
    }
}

struct Batches;

impl Records for Batches {
    type Batches = Vec<RecordBatch>;

    fn decode(input: &Input) -> Self::Batches {
        decode_batches(&mut input.bytes.clone()).expect("batches")
    }

    fn visit(batches: &Self::Batches, sink: &mut impl Sink) {
        for batch in batches {
            for record in &batch.records {
                sink.record(
                    batch.base_offset + i64::from(record.offset_delta),
                    batch.first_timestamp + record.timestamp_delta,
                    record.key.as_deref(),
                    record.value.as_deref(),
                    record.headers.len(),
                );
            }
        }
    }
}

pub fn serve(case: &str, task: &Task) -> Option<String> {
    macro_rules! decode {
        ($kind:ty, $input:expr, $version:expr) => {
            <$kind>::read(&mut $input.bytes.clone(), $version).expect("a message")
        };
    }
    macro_rules! encode {
        ($message:expr, $buffer:expr, $version:expr) => {
            $message.write($buffer, $version).expect("bytes")
        };
    }
    task.records::<Batches>().or_else(|| {
        messages!(
            case, task, decode, encode;
            "api_versions_v3": ApiVersionsResponseData, 3, add_api_versions;
            "metadata_v9_ids": MetadataResponseData, 9, add_metadata;
            "fetch_v12": FetchResponseData, 12, add_fetch;
            "produce_v9": ProduceRequestData, 9, add_produce;
            "offset_fetch_v8": OffsetFetchResponseData, 8, add_offset_fetch;
            "heartbeat_v4": HeartbeatRequestData, 4, add_heartbeat;
        )
    })
}
