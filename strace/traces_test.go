package strace_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/strace"
)

// shipped reads one of the recorded traces.
func shipped(t *testing.T, name string, opts strace.Options) *strace.Trace {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "testdata", "traces", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := strace.Parse(f, opts)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

type kinds = map[strace.Kind]int

func checkShipped(t *testing.T, tr *strace.Trace, file string, want kinds, bytes, maxOffset int64) strace.Stats {
	t.Helper()
	if tr.File != file {
		t.Errorf("log is %q, want %q", tr.File, file)
	}
	s := tr.Stats()
	if d := cmp.Diff(want, s.Count); d != "" {
		t.Errorf("ops by kind (-want +got):\n%s", d)
	}
	if s.Bytes != bytes || s.MaxOffset != maxOffset {
		t.Errorf("%d bytes up to offset %d, want %d up to %d", s.Bytes, s.MaxOffset, bytes, maxOffset)
	}
	if n := s.Count[strace.Write] + s.Count[strace.Sync]; n < 300 {
		t.Errorf("only %d writes and syncs, want 300", n)
	}
	return s
}

func TestSQLiteLogStartsAgainFromItsHead(t *testing.T) {
	tr := shipped(t, "sqlite-wal.strace", strace.Options{})
	s := checkShipped(t, tr, "/data/sqlite/test.db-wal",
		kinds{strace.Create: 1, strace.Write: 273, strace.Sync: 143, strace.Unlink: 1}, 70568, 6464)
	if s.Rewrites < 100 {
		t.Errorf("%d writes below the end of the log, want at least 100", s.Rewrites)
	}
	// The log is a head of 32 bytes and frames: a head of 24, a page of 512.
	heads := 0
	for _, op := range tr.Ops {
		if op.Kind != strace.Write {
			continue
		}
		switch frame := (op.Offset - 32) % (24 + 512); {
		case op.Offset == 0:
			heads++
			if magic := binary.BigEndian.Uint32(op.Data); magic&^1 != 0x377f0682 {
				t.Errorf("line %d: the log's head begins with %#x", op.Line, magic)
			}
		case frame == 0 && len(op.Data) == 24, frame == 24 && len(op.Data) == 512:
		default:
			t.Errorf("line %d: %d bytes at %d are no part of a frame", op.Line, len(op.Data), op.Offset)
		}
	}
	if heads < 5 {
		t.Errorf("the log's head is written %d times, want at least 5 rounds", heads)
	}
}

func TestSQLiteDatabaseIsChosenWhenItIsAskedFor(t *testing.T) {
	tr := shipped(t, "sqlite-wal.strace", strace.Options{File: "*.db"})
	if tr.File != "/data/sqlite/test.db" {
		t.Errorf("chosen: %q", tr.File)
	}
}

// appended returns the content of a log that only ever grows at its end.
func appended(t *testing.T, tr *strace.Trace) (all []byte, unsynced int) {
	t.Helper()
	for _, op := range tr.Ops {
		switch op.Kind {
		case strace.Write:
			if op.Offset != int64(len(all)) {
				t.Fatalf("line %d: write at %d, but the log ends at %d", op.Line, op.Offset, len(all))
			}
			all = append(all, op.Data...)
			unsynced++
		case strace.Sync:
			unsynced = 0
		}
	}
	return all, unsynced
}

func TestRedisLogOnlyGrowsAndEachCommandIsDurable(t *testing.T) {
	tr := shipped(t, "redis-aof.strace", strace.Options{})
	checkShipped(t, tr, "/data/redis/appendonlydir/appendonly.aof.1.incr.aof",
		kinds{strace.Create: 1, strace.Write: 204, strace.Sync: 205}, 8477, 8477)
	all, unsynced := appended(t, tr)
	if unsynced != 0 {
		t.Errorf("%d writes after the last sync", unsynced)
	}
	for command, want := range map[string]int{"\r\nSELECT\r\n": 1, "\r\nSET\r\n": 120, "\r\nINCRBY\r\n": 60, "\r\nLPUSH\r\n": 24} {
		if got := bytes.Count(all, []byte(command)); got != want {
			t.Errorf("%q is in the log %d times, want %d", command, got, want)
		}
	}
}

func TestRocksDBLogOnlyGrowsAndIsWellFormed(t *testing.T) {
	tr := shipped(t, "rocksdb-wal.strace", strace.Options{})
	checkShipped(t, tr, "db/000004.log",
		kinds{strace.Create: 1, strace.Write: 200, strace.Sync: 200}, 8872, 8872)
	all, unsynced := appended(t, tr)
	if unsynced != 0 {
		t.Errorf("%d writes after the last sync", unsynced)
	}
	// A record is a checksum (4 bytes), a length (2), a type (1) and the data;
	// the log is shorter than the block of 32 KiB at which records are split.
	records := 0
	for ; len(all) >= 7; records++ {
		n := 7 + int(binary.LittleEndian.Uint16(all[4:]))
		if all[6] != 1 || n > len(all) {
			t.Fatalf("record %d has type %d and %d bytes of %d", records, all[6], n, len(all))
		}
		all = all[n:]
	}
	if records != 200 || len(all) != 0 {
		t.Errorf("%d records and %d bytes left, want 200 and 0", records, len(all))
	}
}
