package reclog

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// Whatever part of the last frame is there, the records before it are found, the
// last one whole or not at all, and the remains are counted.
func TestScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 20), 1, 8).Draw(t, "records")
		last := records[len(records)-1]
		var b []byte
		for _, r := range records[:len(records)-1] {
			b = Append(b, r)
		}
		used := len(b)
		frame := Append(nil, last)
		// Any bytes of the frame may be missing.
		for i, there := range rapid.SliceOfN(rapid.Bool(), len(frame), len(frame)).Draw(t, "there") {
			if !there {
				frame[i] = 0
			}
		}
		whole := bytes.Equal(frame, Append(nil, last))
		file := append(append(b, frame...), make([]byte, rapid.IntRange(0, 30).Draw(t, "rest"))...)
		got := Scan(file)
		want := records[:len(records)-1]
		if whole {
			want = records
			used += len(frame)
		}
		if len(got.Records) != len(want) {
			t.Fatalf("%d records, want %d", len(got.Records), len(want))
		}
		for i := range want {
			if !bytes.Equal(got.Records[i], want[i]) {
				t.Errorf("record %d is %q, want %q", i, got.Records[i], want[i])
			}
		}
		if rest := file[got.Used:]; got.Used != used || got.Remains != len(bytes.TrimRight(rest, "\x00")) {
			t.Errorf("used %d, want %d; remains %d of %q", got.Used, used, got.Remains, rest)
		}
	})
}

func TestScanForeign(t *testing.T) {
	for _, file := range [][]byte{nil, {1}, {1, 0, 0, 0}, make([]byte, 8), {255, 255, 255, 255, 1, 2, 3, 4, 5}, {2, 0, 0, 0, 0, 0, 0, 0}} {
		if l := Scan(file); len(l.Records) != 0 || l.Used != 0 || l.Remains > len(file) {
			t.Errorf("%v: %+v", file, l)
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add(Append(Append(nil, []byte("one")), nil))
	f.Fuzz(func(t *testing.T, file []byte) {
		l := Scan(file)
		var again []byte
		for _, r := range l.Records {
			again = Append(again, r)
		}
		if !bytes.Equal(again, file[:l.Used]) || l.Used+l.Remains > len(file) {
			t.Errorf("%d records, used %d, remains %d of %d", len(l.Records), l.Used, l.Remains, len(file))
		}
	})
}
