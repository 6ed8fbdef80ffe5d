// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0
//! kafka-wire: strings and byte strings share the input; it has no record batches.

use kafka_wire::{
    ApiVersionsResponse, FetchResponse, HeartbeatRequest, MetadataResponse, OffsetFetchResponse,
    ProduceRequest,
};
use kafka_wire_core::{ApiVersion, DecodeLimits, KafkaDecode, KafkaEncode, StrBytes};

use crate::crates::messages;
use crate::sums::{Field, Sum};
use crate::tasks::Task;

impl Field for StrBytes {
    fn add(&self, sum: &mut Sum) {
        sum.data(self.as_bytes());
    }
}

pub fn serve(case: &str, task: &Task) -> Option<String> {
    macro_rules! decode {
        ($kind:ty, $input:expr, $version:expr) => {
            <$kind>::decode_from_bytes(
                $input.bytes.clone(),
                ApiVersion::new($version),
                DecodeLimits::default(),
            )
            .expect("a message")
        };
    }
    macro_rules! encode {
        ($message:expr, $buffer:expr, $version:expr) => {{
            $message
                .encode_into($buffer, ApiVersion::new($version))
                .expect("bytes");
        }};
    }
    messages!(
        case, task, decode, encode;
        "api_versions_v3": ApiVersionsResponse, 3, add_api_versions;
        "metadata_v9_ids": MetadataResponse, 9, add_metadata;
        "fetch_v12": FetchResponse, 12, add_fetch;
        "produce_v9": ProduceRequest, 9, add_produce;
        "offset_fetch_v8": OffsetFetchResponse, 8, add_offset_fetch;
        "heartbeat_v4": HeartbeatRequest, 4, add_heartbeat;
    )
}
