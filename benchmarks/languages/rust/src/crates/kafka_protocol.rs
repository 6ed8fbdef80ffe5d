// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0
//! kafka-protocol: strings and byte strings share the input by reference counts.

use bytes::Bytes;
use kafka_protocol::messages::{
    ApiVersionsResponse, BrokerId, FetchResponse, GroupId, HeartbeatRequest, MetadataResponse,
    OffsetFetchResponse, ProduceRequest, TopicName, TransactionalId,
};
use kafka_protocol::protocol::{Decodable, Encodable, StrBytes};
use kafka_protocol::records::{RecordBatchDecoder, RecordSet};

use crate::crates::messages;
use crate::sums::{Field, Sum};
use crate::tasks::{Input, Records, Sink, Task};

impl Field for StrBytes {
    fn add(&self, sum: &mut Sum) {
        sum.data(self.as_bytes());
    }
}

macro_rules! wrapped {
    ($($kind:ty),*) => {
        $(impl Field for $kind {
            fn add(&self, sum: &mut Sum) {
                self.0.add(sum);
            }
        })*
    };
}
wrapped!(BrokerId, GroupId, TopicName, TransactionalId);

struct Batches;

impl Records for Batches {
    type Batches = Vec<RecordSet>;

    fn decode(input: &Input) -> Self::Batches {
        let mut bytes: Bytes = input.bytes.clone();
        RecordBatchDecoder::decode_all(&mut bytes).expect("batches")
    }

    fn visit(batches: &Self::Batches, sink: &mut impl Sink) {
        for record in batches.iter().flat_map(|batch| &batch.records) {
            sink.record(
                record.offset,
                record.timestamp,
                record.key.as_deref(),
                record.value.as_deref(),
                record.headers.len(),
            );
        }
    }
}

pub fn serve(case: &str, task: &Task) -> Option<String> {
    macro_rules! decode {
        ($kind:ty, $input:expr, $version:expr) => {
            <$kind>::decode(&mut $input.bytes.clone(), $version).expect("a message")
        };
    }
    macro_rules! encode {
        ($message:expr, $buffer:expr, $version:expr) => {
            $message.encode($buffer, $version).expect("bytes")
        };
    }
    task.records::<Batches>().or_else(|| {
        messages!(
            case, task, decode, encode;
            "api_versions_v3": ApiVersionsResponse, 3, add_api_versions;
            "metadata_v9_ids": MetadataResponse, 9, add_metadata;
            "fetch_v12": FetchResponse, 12, add_fetch;
            "produce_v9": ProduceRequest, 9, add_produce;
            "offset_fetch_v8": OffsetFetchResponse, 8, add_offset_fetch;
            "heartbeat_v4": HeartbeatRequest, 4, add_heartbeat;
        )
    })
}
