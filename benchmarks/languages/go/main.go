// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

// Serves franz-go to benchmarks/languages: checks, loops and memory.
//
// It reads requests from standard input, a line each, ACTION LIBRARY OPERATION CASE
// [LOOPS], and answers with a line. The parent reads the clock. "kmsg" copies strings;
// "kmsg-unsafe" lets them point into the input, which franz-go offers too. Records are
// decoded by kgo, as its consumers do it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What a loop makes is kept here, so that no call of it can be left out.
var sink any

// A work is what one call does, and how its result is added to a checksum.
type work struct {
	run func() any
	add func(any, *sum)
}

type request interface {
	SetVersion(int16)
	ReadFrom([]byte) error
	UnsafeReadFrom([]byte) error
	AppendTo([]byte) []byte
}

func message[M any, P interface {
	*M
	request
}](version int16, data []byte, library, operation string, add func(P, *sum)) *work {
	decode := func() P {
		var found P = new(M)
		found.SetVersion(version)
		var err error
		if library == "kmsg-unsafe" {
			err = found.UnsafeReadFrom(data)
		} else {
			err = found.ReadFrom(data)
		}
		if err != nil {
			panic(err)
		}
		return found
	}
	switch operation {
	case "decode":
		return &work{func() any { return decode() }, func(found any, s *sum) { add(found.(P), s) }}
	case "encode":
		ready := decode()
		return &work{
			func() any { return ready.AppendTo(make([]byte, 0, len(data))) },
			func(found any, s *sum) { s.data(found.([]byte)) },
		}
	}
	return nil
}

func records(data []byte) *work {
	decode := func() any {
		partition := kmsg.NewFetchResponseTopicPartition()
		partition.RecordBatches = data
		options := kgo.ProcessFetchPartitionOpts{Topic: "benchmark"}
		found, _ := kgo.ProcessFetchPartition(options, &partition, kgo.DefaultDecompressor(), nil)
		if found.Err != nil {
			panic(found.Err)
		}
		var read int64
		for _, record := range found.Records {
			read += record.Offset + record.Timestamp.UnixMilli()
			read += int64(len(record.Key) + len(record.Value) + len(record.Headers))
		}
		total += read
		return found.Records
	}
	return &work{decode, func(found any, s *sum) {
		for _, record := range found.([]*kgo.Record) {
			s.number(record.Offset)
			s.number(record.Timestamp.UnixMilli())
			s.bytes(record.Key)
			s.bytes(record.Value)
			s.number(int64(len(record.Headers)))
		}
	}}
}

// Of all fields that a loop has read.
var total int64

func find(library, operation, name string, data []byte) *work {
	if library == "kmsg-unsafe" && operation != "decode" {
		return nil
	}
	if operation == "records" {
		return records(data)
	}
	switch name {
	case "api_versions_v3":
		return message(3, data, library, operation, addAPIVersions)
	case "metadata_v9_ids":
		return message(9, data, library, operation, addMetadata)
	case "fetch_v12":
		return message(12, data, library, operation, addFetch)
	case "produce_v9":
		return message(9, data, library, operation, addProduce)
	case "offset_fetch_v8":
		return message(8, data, library, operation, addOffsetFetch)
	case "heartbeat_v4":
		return message(4, data, library, operation, addHeartbeat)
	}
	return nil
}

// Memory returns the bytes that a result keeps, and the bytes that one call allocates:
// none of those is freed before the next collection.
func memory(w *work) (int64, int64) {
	const kept = 100
	w.run()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	held := make([]any, kept)
	for index := range held {
		held[index] = w.run()
	}
	runtime.ReadMemStats(&after)
	allocated := int64(after.TotalAlloc-before.TotalAlloc) / kept
	runtime.GC()
	runtime.ReadMemStats(&after)
	left := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / kept
	runtime.KeepAlive(held)
	return left, allocated
}

func main() {
	inputs := map[string][]byte{}
	works := map[string]*work{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Split(lines.Text(), " ")
		name := words[3]
		if inputs[name] == nil {
			data, err := os.ReadFile(os.Args[1] + "/" + name + ".bin")
			if err != nil {
				panic(err)
			}
			inputs[name] = data
		}
		key := strings.Join(words[1:4], " ")
		if _, known := works[key]; !known {
			works[key] = find(words[1], words[2], name, inputs[name])
		}
		w := works[key]
		switch {
		case w == nil:
			fmt.Println("none")
		case words[0] == "check":
			s := newSum()
			w.add(w.run(), s)
			fmt.Printf("%016x\n", s.value)
		case words[0] == "memory":
			held, peak := memory(w)
			fmt.Println(held, peak)
		default:
			loops, err := strconv.Atoi(words[4])
			if err != nil {
				panic(err)
			}
			for range loops {
				sink = w.run()
			}
			fmt.Println(loops)
		}
	}
}
