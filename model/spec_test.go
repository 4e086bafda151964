package model

import (
	"errors"
	"testing"

	"github.com/anishathalye/porcupine"
)

// event is one operation of a sequential history.
type event struct{ in, out any }

// sequential records the events one after another.
func sequential(t testing.TB, events []event) *History {
	t.Helper()
	h := new(History)
	for i, e := range events {
		id, err := h.Invoke(i%3, e.in, int64(2*i))
		if err == nil && !isNoReply(e.out) {
			err = h.Return(id, e.out, int64(2*i+1))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return h
}

var specTests = map[string]struct {
	spec   Spec
	events []event
	want   Verdict
}{
	"register starts at zero":      {Register{}, []event{{RegisterRead{}, RegisterValue{0}}}, Ok},
	"register read of a value":     {Register{}, []event{{RegisterWrite{7}, Done{}}, {RegisterRead{}, RegisterValue{7}}}, Ok},
	"register stale read":          {Register{}, []event{{RegisterWrite{7}, Done{}}, {RegisterRead{}, RegisterValue{0}}}, Illegal},
	"register swap":                {Register{}, []event{{RegisterCAS{0, 5}, RegisterSwapped{true}}, {RegisterRead{}, RegisterValue{5}}}, Ok},
	"register swap returns before": {Register{}, []event{{RegisterWrite{3}, Done{}}, {RegisterCAS{3, 5}, RegisterValue{3}}, {RegisterRead{}, RegisterValue{5}}}, Ok},
	"register swap wrong before":   {Register{}, []event{{RegisterWrite{3}, Done{}}, {RegisterCAS{3, 5}, RegisterValue{5}}}, Illegal},
	"register failed swap writes":  {Register{}, []event{{RegisterCAS{1, 5}, RegisterSwapped{false}}, {RegisterRead{}, RegisterValue{5}}}, Illegal},
	"register two winners":         {Register{}, []event{{RegisterCAS{0, 5}, RegisterSwapped{true}}, {RegisterCAS{0, 6}, RegisterSwapped{true}}}, Illegal},
	"lost write may show":          {Register{}, []event{{RegisterWrite{7}, NoReply{}}, {RegisterRead{}, RegisterValue{7}}}, Ok},
	"lost write may not show":      {Register{}, []event{{RegisterWrite{7}, NoReply{}}, {RegisterRead{}, RegisterValue{0}}}, Ok},
	"lost write may show late":     {Register{}, []event{{RegisterWrite{7}, NoReply{}}, {RegisterRead{}, RegisterValue{0}}, {RegisterRead{}, RegisterValue{7}}}, Ok},
	"lost write cannot vanish":     {Register{}, []event{{RegisterWrite{7}, NoReply{}}, {RegisterRead{}, RegisterValue{7}}, {RegisterRead{}, RegisterValue{0}}}, Illegal},
	"lost swap may show":           {Register{}, []event{{RegisterCAS{0, 7}, NoReply{}}, {RegisterRead{}, RegisterValue{7}}}, Ok},

	"kv missing key":         {KV{}, []event{{KVGet{"a"}, KVValue{}}}, Ok},
	"kv keys are apart":      {KV{}, []event{{KVPut{"a", "1"}, Done{}}, {KVGet{"b"}, KVValue{"1", true}}}, Illegal},
	"kv append":              {KV{}, []event{{KVAppend{"a", "1"}, Done{}}, {KVAppend{"a", "2"}, KVValue{"12", true}}, {KVGet{"a"}, KVValue{"12", true}}}, Ok},
	"kv append order":        {KV{}, []event{{KVAppend{"a", "1"}, Done{}}, {KVAppend{"a", "2"}, Done{}}, {KVGet{"a"}, KVValue{"21", true}}}, Illegal},
	"kv delete":              {KV{}, []event{{KVPut{"a", "1"}, Done{}}, {KVDelete{"a"}, KVValue{"1", true}}, {KVGet{"a"}, KVValue{}}, {KVDelete{"a"}, Done{}}}, Ok},
	"kv deleted key returns": {KV{}, []event{{KVPut{"a", "1"}, Done{}}, {KVDelete{"a"}, Done{}}, {KVGet{"a"}, KVValue{"1", true}}}, Illegal},
	"kv swap":                {KV{}, []event{{KVPut{"a", "1"}, Done{}}, {KVCAS{"a", "1", "2"}, KVSwapped{true}}, {KVGet{"a"}, KVValue{"2", true}}}, Ok},
	"kv swap of nothing":     {KV{}, []event{{KVCAS{"a", "", "2"}, KVSwapped{true}}}, Illegal},
	"kv empty is not absent": {KV{}, []event{{KVPut{"a", ""}, Done{}}, {KVGet{"a"}, KVValue{}}}, Illegal},

	"log counts from zero":      {AppendLog{}, []event{{LogAppend{"x"}, LogIndex{0}}, {LogAppend{"y"}, LogIndex{1}}}, Ok},
	"log skips a number":        {AppendLog{}, []event{{LogAppend{"x"}, LogIndex{1}}}, Illegal},
	"log read from the middle":  {AppendLog{}, []event{{LogAppend{"x"}, Done{}}, {LogAppend{"y"}, Done{}}, {LogRead{From: 1}, LogEntries{[]string{"y"}}}}, Ok},
	"log read with a limit":     {AppendLog{}, []event{{LogAppend{"x"}, Done{}}, {LogAppend{"y"}, Done{}}, {LogRead{0, 1}, LogEntries{[]string{"x"}}}}, Ok},
	"log read past the end":     {AppendLog{}, []event{{LogRead{From: 9}, LogEntries{}}}, Ok},
	"log loses an entry":        {AppendLog{}, []event{{LogAppend{"x"}, Done{}}, {LogRead{}, LogEntries{}}}, Illegal},
	"log trimmed read":          {AppendLog{}, []event{{LogAppend{"x"}, Done{}}, {LogAppend{"y"}, Done{}}, {LogTrim{1}, Done{}}, {LogRead{}, LogTrimmed{1}}, {LogRead{From: 1}, LogEntries{[]string{"y"}}}}, Ok},
	"log trimmed entry returns": {AppendLog{}, []event{{LogAppend{"x"}, Done{}}, {LogTrim{1}, Done{}}, {LogRead{}, LogEntries{[]string{"x"}}}}, Illegal},
	"log trim past the end":     {AppendLog{}, []event{{LogAppend{"x"}, Done{}}, {LogTrim{9}, Done{}}, {LogAppend{"y"}, LogIndex{1}}}, Ok},

	"file overwrite":                  {File{}, []event{{FilePwrite{0, "abcd"}, Done{}}, {FilePwrite{1, "XY"}, Done{}}, {FilePread{0, 9}, FileData{"aXYd"}}}, Ok},
	"file gap is zeros":               {File{}, []event{{FilePwrite{2, "a"}, Done{}}, {FilePread{0, 3}, FileData{"\x00\x00a"}}, {FileSize{}, FileSizeIs{3}}}, Ok},
	"file short write":                {File{}, []event{{FilePwrite{0, "abcd"}, FileWrote{2}}, {FilePread{0, 9}, FileData{"ab"}}}, Ok},
	"file writing nothing":            {File{}, []event{{FilePwrite{5, ""}, Done{}}, {FileSize{}, FileSizeIs{0}}}, Ok},
	"file truncate":                   {File{}, []event{{FilePwrite{0, "abcd"}, Done{}}, {FileTruncate{2}, Done{}}, {FileTruncate{3}, Done{}}, {FilePread{0, 9}, FileData{"ab\x00"}}}, Ok},
	"file read past the end":          {File{}, []event{{FilePread{7, 1}, FileData{""}}}, Ok},
	"file short read":                 {File{}, []event{{FilePwrite{0, "abcd"}, Done{}}, {FilePread{0, 4}, FileData{"abc"}}}, Illegal},
	"file torn write":                 {File{}, []event{{FilePwrite{0, "abcd"}, NoReply{}}, {FilePread{0, 4}, FileData{"ab"}}}, Illegal},
	"memory starts with zeros":        {Memory{2}, []event{{MemoryRead{0, 2}, MemoryData{"\x00\x00"}}}, Ok},
	"memory list in its order":        {Memory{2}, []event{{MemoryWriteAll{[]MemoryWrite{{0, "ab"}, {1, "c"}}}, Done{}}, {MemoryRead{0, 2}, MemoryData{"ac"}}}, Ok},
	"memory list against its order":   {Memory{2}, []event{{MemoryWriteAll{[]MemoryWrite{{0, "ab"}, {1, "c"}}}, Done{}}, {MemoryRead{0, 2}, MemoryData{"ab"}}}, Illegal},
	"memory half a list":              {Memory{2}, []event{{MemoryWriteAll{[]MemoryWrite{{0, "a"}, {1, "b"}}}, NoReply{}}, {MemoryRead{0, 2}, MemoryData{"a\x00"}}}, Illegal},
	"memory lost list shows":          {Memory{2}, []event{{MemoryWriteAll{[]MemoryWrite{{0, "a"}, {1, "b"}}}, NoReply{}}, {MemoryRead{0, 2}, MemoryData{"ab"}}}, Ok},
	"memory lost write cannot vanish": {Memory{1}, []event{{MemoryWrite{0, "a"}, NoReply{}}, {MemoryRead{0, 1}, MemoryData{"a"}}, {MemoryRead{0, 1}, MemoryData{"\x00"}}}, Illegal},
	"memory stale read":               {Memory{1}, []event{{MemoryWrite{0, "a"}, Done{}}, {MemoryRead{0, 1}, MemoryData{"\x00"}}}, Illegal},

	"file write up to a limit": {File{Capacity: 4}, []event{{FilePwrite{2, "ab"}, Done{}}, {FileSize{}, FileSizeIs{4}}}, Ok},
}

func TestSpecsJudgeSequentialHistories(t *testing.T) {
	for name, tt := range specTests {
		t.Run(name, func(t *testing.T) {
			h := sequential(t, tt.events)
			r := Check(tt.spec, h, Budget{})
			if r.Verdict != tt.want {
				t.Errorf("got %v, want %v\n%s", r, tt.want, Explain(tt.spec, r, Budget{}))
			}
			if (r.Verdict == Illegal) != (len(r.Failed) > 0) {
				t.Errorf("%v with %d failed operations", r, len(r.Failed))
			}
		})
	}
}

func TestBadOperationsAreUnknown(t *testing.T) {
	tests := map[string]struct {
		spec Spec
		e    event
	}{
		"operation of another spec":   {Register{}, event{KVGet{"a"}, KVValue{}}},
		"output of another operation": {Register{}, event{RegisterRead{}, Done{}}},
		"no operation at all":         {AppendLog{}, event{"append", Done{}}},
		"kv: absent with a value":     {KV{}, event{KVGet{"a"}, KVValue{"x", false}}},
		"log: negative number":        {AppendLog{}, event{LogRead{From: -1}, LogEntries{}}},
		"file: negative offset":       {File{}, event{FilePwrite{-1, "a"}, Done{}}},
		"file: huge offset":           {File{}, event{FilePwrite{1 << 62, "a"}, Done{}}},
		"file: past the capacity":     {File{Capacity: 4}, event{FilePwrite{3, "ab"}, Done{}}},
		"file: data too long":         {File{Capacity: 1}, event{FilePwrite{0, "ab"}, Done{}}},
		"file: wrote more than asked": {File{}, event{FilePwrite{0, "a"}, FileWrote{2}}},
		"file: negative size":         {File{}, event{FileTruncate{-1}, Done{}}},
		"file: huge size, no reply":   {File{}, event{FileTruncate{1 << 62}, NoReply{}}},
		"memory: past the end":        {Memory{2}, event{MemoryWrite{1, "ab"}, Done{}}},
		"memory: negative address":    {Memory{2}, event{MemoryRead{-1, 1}, NoReply{}}},
		"memory: negative length":     {Memory{2}, event{MemoryRead{1, -1}, NoReply{}}},
		"memory: short read":          {Memory{2}, event{MemoryRead{0, 2}, MemoryData{"a"}}},
		"memory: empty list":          {Memory{2}, event{MemoryWriteAll{}, Done{}}},
		"memory: list past the end":   {Memory{2}, event{MemoryWriteAll{[]MemoryWrite{{0, "a"}, {2, "b"}}}, NoReply{}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := Check(tt.spec, sequential(t, []event{tt.e}), Budget{})
			if r.Verdict != Unknown || !errors.Is(r.Why, ErrBadOperation) {
				t.Errorf("got %v, want unknown because of a bad operation", r)
			}
			if ok, _ := tt.spec.Step(tt.spec.Init(), tt.e.in, tt.e.out); ok {
				t.Error("Step accepts it")
			}
			if ok, _ := tt.spec.Step(struct{}{}, tt.e.in, tt.e.out); ok {
				t.Error("Step accepts a state of another type")
			}
		})
	}
}

// TestModelIsTheSpec runs porcupine without the budget around it.
func TestModelIsTheSpec(t *testing.T) {
	for name, tt := range specTests {
		m := Model(tt.spec)
		ops := sequential(t, tt.events).Operations()
		if got := porcupine.CheckOperations(m, ops); got != (tt.want == Ok) {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
		for _, op := range ops {
			if m.DescribeOperationMetadata(op.Metadata) == "" || m.DescribeOperationMetadata(nil) != "" {
				t.Errorf("%s: metadata %v", name, op.Metadata)
			}
		}
	}
}

func TestOperationsReadWell(t *testing.T) {
	tests := map[string]struct {
		spec Spec
		e    event
	}{
		`write(7) -> ok`:                    {Register{}, event{RegisterWrite{7}, Done{}}},
		`cas(1, 2) -> not swapped`:          {Register{}, event{RegisterCAS{1, 2}, RegisterSwapped{}}},
		`cas(1, 2) -> swapped`:              {Register{}, event{RegisterCAS{1, 2}, RegisterSwapped{true}}},
		`get("k") -> not found`:             {KV{}, event{KVGet{"k"}, KVValue{}}},
		`put("k", "v") -> no reply`:         {KV{}, event{KVPut{"k", "v"}, NoReply{}}},
		`append("k", "v") -> "uv"`:          {KV{}, event{KVAppend{"k", "v"}, KVValue{"uv", true}}},
		`delete("k") -> ok`:                 {KV{}, event{KVDelete{"k"}, Done{}}},
		`cas("k", "a", "b") -> swapped`:     {KV{}, event{KVCAS{"k", "a", "b"}, KVSwapped{true}}},
		`append("x") -> index 3`:            {AppendLog{}, event{LogAppend{"x"}, LogIndex{3}}},
		`read(1) -> ["x" "y"]`:              {AppendLog{}, event{LogRead{From: 1}, LogEntries{[]string{"x", "y"}}}},
		`read(1, max 2) -> trimmed up to 5`: {AppendLog{}, event{LogRead{1, 2}, LogTrimmed{5}}},
		`trim(5) -> ok`:                     {AppendLog{}, event{LogTrim{5}, Done{}}},
		`pwrite(4, "ab") -> wrote 1`:        {File{}, event{FilePwrite{4, "ab"}, FileWrote{1}}},
		`pread(4, 2) -> "a\x00"`:            {File{}, event{FilePread{4, 2}, FileData{"a\x00"}}},
		`truncate(9) -> ok`:                 {File{}, event{FileTruncate{9}, Done{}}},
		`write(1, "a") -> ok`:               {Memory{2}, event{MemoryWrite{1, "a"}, Done{}}},
		`write(0, "a"; 1, "b") -> ok`:       {Memory{2}, event{MemoryWriteAll{[]MemoryWrite{{0, "a"}, {1, "b"}}}, Done{}}},
		`read(0, 1) -> "a"`:                 {Memory{2}, event{MemoryRead{0, 1}, MemoryData{"a"}}},
		`size() -> size 9`:                  {File{}, event{FileSize{}, FileSizeIs{9}}},
	}
	for want, tt := range tests {
		if got := tt.spec.DescribeOperation(tt.e.in, tt.e.out); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestStatesReadWell(t *testing.T) {
	tests := map[string]struct {
		spec Spec
		ins  []any
	}{
		`7`:            {Register{}, []any{RegisterWrite{7}}},
		`not found`:    {KV{}, nil},
		`"v"`:          {KV{}, []any{KVPut{"k", "v"}}},
		`["x" "y"]`:    {AppendLog{}, []any{LogAppend{"x"}, LogAppend{"y"}}},
		`["y"] from 1`: {AppendLog{}, []any{LogAppend{"x"}, LogAppend{"y"}, LogTrim{1}}},
		`"\x00b"`:      {Memory{2}, []any{MemoryWrite{1, "b"}}},
		`"\x00a"`:      {File{}, []any{FilePwrite{1, "a"}}},
	}
	for want, tt := range tests {
		state := tt.spec.Init()
		for _, in := range tt.ins {
			_, state = tt.spec.Step(state, in, NoReply{})
		}
		if got := tt.spec.DescribeState(state); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
