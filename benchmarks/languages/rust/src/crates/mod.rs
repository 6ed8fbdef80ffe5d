// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0
//! The crates by name, and the fields of each message in wire order.
//!
//! The crates give the fields of Kafka's schemas the same names, so that one list of
//! fields serves all of them.

mod kacrab;
mod kafka_protocol;
mod kafka_wire;
mod krabka;

use crate::tasks::Task;

/// Answers a request; `None` where the crate does not have the case.
pub fn serve(name: &str, case: &str, task: &Task) -> Option<String> {
    match name {
        "kacrab-protocol" => kacrab::serve(case, task),
        "kafka-protocol" => kafka_protocol::serve(case, task),
        "kafka-wire" => kafka_wire::serve(case, task),
        "krabka-protocol" => krabka::serve_owned(case, task),
        "krabka-protocol-borrowed" => krabka::serve_borrowed(case, task),
        _ => panic!("not a crate: {name}"),
    }
}

/// Adds fields to a checksum: `name`, `name[fields of an element]`, or `count name` for
/// the size of a list that can be null and is empty in all cases.
macro_rules! add {
    ($value:expr, $sum:expr; ) => {{}};
    ($value:expr, $sum:expr; count $name:ident $($rest:tt)*) => {{
        $sum.number($value.$name.as_ref().map_or(-1, |list| list.len() as i64));
        crate::crates::add!($value, $sum; $($rest)*);
    }};
    ($value:expr, $sum:expr; $name:ident [$($inner:tt)*] $($rest:tt)*) => {{
        $sum.number($value.$name.len() as i64);
        for element in &$value.$name {
            crate::crates::add!(element, $sum; $($inner)*);
        }
        crate::crates::add!($value, $sum; $($rest)*);
    }};
    ($value:expr, $sum:expr; $name:ident $($rest:tt)*) => {{
        crate::sums::Field::add(&$value.$name, $sum);
        crate::crates::add!($value, $sum; $($rest)*);
    }};
}
pub(crate) use add;

/// Serves messages: the name of a case, its type, version and fields. `$decode!(Type,
/// input, version)` and `$encode!(message, buffer, version)` are what a crate documents.
macro_rules! messages {
    ($case:expr, $task:expr, $decode:ident, $encode:ident;
     $($name:literal: $kind:ty, $version:literal, $fields:ident;)*) => {
        match $case {
            $($name => $task.message(
                |input| $decode!($kind, input, $version),
                |message, sum| crate::crates::$fields!(message, sum),
                |message, buffer| $encode!(message, buffer, $version),
            ),)*
            _ => None,
        }
    };
}
pub(crate) use messages;

macro_rules! add_api_versions {
    ($message:expr, $sum:expr) => {
        crate::crates::add!($message, $sum;
            error_code api_keys[api_key min_version max_version] throttle_time_ms)
    };
}
pub(crate) use add_api_versions;

macro_rules! add_metadata {
    ($message:expr, $sum:expr) => {
        crate::crates::add!($message, $sum;
            throttle_time_ms brokers[node_id host port rack] cluster_id controller_id
            topics[
                error_code name is_internal
                partitions[
                    error_code partition_index leader_id leader_epoch
                    replica_nodes isr_nodes offline_replicas
                ]
                topic_authorized_operations
            ]
            cluster_authorized_operations)
    };
}
pub(crate) use add_metadata;

macro_rules! add_fetch {
    ($message:expr, $sum:expr) => {
        crate::crates::add!($message, $sum;
            throttle_time_ms error_code session_id
            responses[
                topic
                partitions[
                    partition_index error_code high_watermark last_stable_offset
                    log_start_offset count aborted_transactions preferred_read_replica records
                ]
            ])
    };
}
pub(crate) use add_fetch;

macro_rules! add_produce {
    ($message:expr, $sum:expr) => {
        crate::crates::add!($message, $sum;
            transactional_id acks timeout_ms topic_data[name partition_data[index records]])
    };
}
pub(crate) use add_produce;

macro_rules! add_offset_fetch {
    ($message:expr, $sum:expr) => {
        crate::crates::add!($message, $sum;
            throttle_time_ms
            groups[
                group_id
                topics[
                    name
                    partitions[
                        partition_index committed_offset committed_leader_epoch
                        metadata error_code
                    ]
                ]
                error_code
            ])
    };
}
pub(crate) use add_offset_fetch;

macro_rules! add_heartbeat {
    ($message:expr, $sum:expr) => {
        crate::crates::add!($message, $sum;
            group_id generation_id member_id group_instance_id)
    };
}
pub(crate) use add_heartbeat;
