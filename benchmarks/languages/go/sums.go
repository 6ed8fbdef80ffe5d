// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A sum is a checksum of values in wire order, the same in every language.
type sum struct{ value uint64 }

func newSum() *sum { return &sum{0xcbf29ce484222325} }

func (s *sum) number(value int64) { s.value = (s.value ^ uint64(value)) * 0x100000001b3 }

func (s *sum) data(data []byte) {
	s.number(int64(len(data)))
	s.number(int64(crc32.ChecksumIEEE(data)))
}

func (s *sum) bytes(data []byte) {
	if data == nil {
		s.number(-1)
	} else {
		s.data(data)
	}
}

func (s *sum) text(text string) { s.data([]byte(text)) }

func (s *sum) maybe(text *string) {
	if text == nil {
		s.number(-1)
	} else {
		s.text(*text)
	}
}

func (s *sum) flag(value bool) {
	if value {
		s.number(1)
	} else {
		s.number(0)
	}
}

func (s *sum) numbers(values []int32) {
	s.number(int64(len(values)))
	for _, value := range values {
		s.number(int64(value))
	}
}

func addAPIVersions(m *kmsg.ApiVersionsResponse, s *sum) {
	s.number(int64(m.ErrorCode))
	s.number(int64(len(m.ApiKeys)))
	for _, key := range m.ApiKeys {
		s.number(int64(key.ApiKey))
		s.number(int64(key.MinVersion))
		s.number(int64(key.MaxVersion))
	}
	s.number(int64(m.ThrottleMillis))
}

func addMetadata(m *kmsg.MetadataResponse, s *sum) {
	s.number(int64(m.ThrottleMillis))
	s.number(int64(len(m.Brokers)))
	for _, broker := range m.Brokers {
		s.number(int64(broker.NodeID))
		s.text(broker.Host)
		s.number(int64(broker.Port))
		s.maybe(broker.Rack)
	}
	s.maybe(m.ClusterID)
	s.number(int64(m.ControllerID))
	s.number(int64(len(m.Topics)))
	for _, topic := range m.Topics {
		s.number(int64(topic.ErrorCode))
		s.maybe(topic.Topic)
		s.flag(topic.IsInternal)
		s.number(int64(len(topic.Partitions)))
		for _, partition := range topic.Partitions {
			s.number(int64(partition.ErrorCode))
			s.number(int64(partition.Partition))
			s.number(int64(partition.Leader))
			s.number(int64(partition.LeaderEpoch))
			s.numbers(partition.Replicas)
			s.numbers(partition.ISR)
			s.numbers(partition.OfflineReplicas)
		}
		s.number(int64(topic.AuthorizedOperations))
	}
	s.number(int64(m.AuthorizedOperations))
}

func addFetch(m *kmsg.FetchResponse, s *sum) {
	s.number(int64(m.ThrottleMillis))
	s.number(int64(m.ErrorCode))
	s.number(int64(m.SessionID))
	s.number(int64(len(m.Topics)))
	for _, topic := range m.Topics {
		s.text(topic.Topic)
		s.number(int64(len(topic.Partitions)))
		for _, partition := range topic.Partitions {
			s.number(int64(partition.Partition))
			s.number(int64(partition.ErrorCode))
			s.number(partition.HighWatermark)
			s.number(partition.LastStableOffset)
			s.number(partition.LogStartOffset)
			s.number(int64(len(partition.AbortedTransactions)))
			s.number(int64(partition.PreferredReadReplica))
			s.bytes(partition.RecordBatches)
		}
	}
}

func addProduce(m *kmsg.ProduceRequest, s *sum) {
	s.maybe(m.TransactionID)
	s.number(int64(m.Acks))
	s.number(int64(m.TimeoutMillis))
	s.number(int64(len(m.Topics)))
	for _, topic := range m.Topics {
		s.text(topic.Topic)
		s.number(int64(len(topic.Partitions)))
		for _, partition := range topic.Partitions {
			s.number(int64(partition.Partition))
			s.bytes(partition.Records)
		}
	}
}

func addOffsetFetch(m *kmsg.OffsetFetchResponse, s *sum) {
	s.number(int64(m.ThrottleMillis))
	s.number(int64(len(m.Groups)))
	for _, group := range m.Groups {
		s.text(group.Group)
		s.number(int64(len(group.Topics)))
		for _, topic := range group.Topics {
			s.text(topic.Topic)
			s.number(int64(len(topic.Partitions)))
			for _, partition := range topic.Partitions {
				s.number(int64(partition.Partition))
				s.number(partition.Offset)
				s.number(int64(partition.LeaderEpoch))
				s.maybe(partition.Metadata)
				s.number(int64(partition.ErrorCode))
			}
		}
		s.number(int64(group.ErrorCode))
	}
}

func addHeartbeat(m *kmsg.HeartbeatRequest, s *sum) {
	s.text(m.Group)
	s.number(int64(m.Generation))
	s.text(m.MemberID)
	s.maybe(m.InstanceID)
}
