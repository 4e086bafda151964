package strace

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// quote writes a string as strace does: plain, or with -xx.
func quote(data []byte, hex bool) string {
	var b strings.Builder
	for i, c := range data {
		next := i+1 < len(data) && isDigit(data[i+1])
		switch {
		case hex:
			fmt.Fprintf(&b, `\x%02x`, c)
		case c == '"' || c == '\\':
			fmt.Fprintf(&b, `\%c`, c)
		case c >= ' ' && c < 0x7f:
			b.WriteByte(c)
		case next: // else a digit of the data would join the number
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			fmt.Fprintf(&b, `\%o`, c)
		}
	}
	return `"` + b.String() + `"`
}

// printOp writes an op as the line that strace would show for it. pos is the
// file's position, so that some writes can be plain ones.
func printOp(op Op, pos *int64, hex bool) string {
	const open = `openat(AT_FDCWD, "/d/log", O_RDWR|O_CREAT|O_EXCL, 0600) = 3`
	switch op.Kind {
	case Create:
		*pos = 0
		return open
	case Open:
		*pos = 0
		return `openat(AT_FDCWD, "/d/log", O_RDWR) = 3`
	case Write:
		n := len(op.Data)
		if op.Offset == *pos {
			*pos += int64(n)
			return fmt.Sprintf("write(3, %s, %d) = %d", quote(op.Data, hex), n, n)
		}
		return fmt.Sprintf("pwrite64(3, %s, %d, %d) = %d", quote(op.Data, hex), n, op.Offset, n)
	case Truncate:
		return fmt.Sprintf("ftruncate(3, %d) = 0", op.Size)
	case Sync:
		return "fdatasync(3) = 0"
	case Rename:
		return fmt.Sprintf(`rename("/d/log", "%s") = 0`, op.To)
	default:
		return `unlink("/d/log") = 0`
	}
}

// drawOps gives ops that a program may do, in an order that it may do them.
func drawOps(t *rapid.T) []Op {
	ops := []Op{{Kind: Create}, {Kind: Write, Data: []byte("x")}}
	size, named := int64(1), true
	for range rapid.IntRange(0, 30).Draw(t, "ops") {
		if !named {
			ops, size, named = append(ops, Op{Kind: Create}), 0, true
			continue
		}
		kind := rapid.SampledFrom([]Kind{Open, Write, Write, Write, Truncate, Sync, Rename, Unlink}).Draw(t, "kind")
		op := Op{Kind: kind}
		switch kind {
		case Write:
			op.Offset = rapid.Int64Range(0, size+9).Draw(t, "offset")
			op.Data = rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "data")
			size = max(size, op.Offset+int64(len(op.Data)))
		case Truncate:
			op.Size = rapid.Int64Range(0, 50).Draw(t, "size")
			if op.Size == size {
				continue // no effect, so no op
			}
			size = op.Size
		case Rename:
			op.To, named = fmt.Sprintf("/d/old.%d", len(ops)), false
		case Unlink:
			named = false
		}
		ops = append(ops, op)
	}
	return ops
}

func TestPrintedOpsAreParsedBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := drawOps(t)
		hex := rapid.Bool().Draw(t, "-xx")
		prefix := rapid.SampledFrom([]string{"", "12 ", "[pid 12] ", "12:00:01.000001 ", "12 1700000000.1 "}).Draw(t, "prefix")
		var text strings.Builder
		pos := int64(0)
		for _, op := range ops {
			line := printOp(op, &pos, hex)
			if call, result, ok := strings.Cut(line, ") = "); ok && !strings.Contains(result, ") = ") && rapid.Bool().Draw(t, "in two parts") {
				name, _, _ := strings.Cut(line, "(")
				line = call + " <unfinished ...>\n" + prefix + "<... " + name + " resumed>) = " + result
			}
			text.WriteString(prefix + line + "\n")
		}
		tr, err := Parse(strings.NewReader(text.String()), Options{File: "/d/log"})
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		if d := cmp.Diff(ops, tr.Ops, cmpopts.IgnoreFields(Op{}, "Line")); d != "" {
			t.Fatalf("ops (-want +got):\n%s\n%s", d, text.String())
		}
	})
}

// FuzzParse: any text gives a Trace or one of the package's errors, within the
// limits.
func FuzzParse(f *testing.F) {
	a := "write(3, \"a\\x00\\12\", 3) = 3\n"
	for _, seed := range []string{
		"", "hello\n", opened + a + "fsync(3) = 0\n", opened + a + "write(3, \"b\"...", "[pid 7] " + opened + "[pid 7] " + a,
		"7 " + opened + "7 clone3({flags=CLONE_FILES}, 88 <unfinished ...>\n8 " + a + "7 <... clone3 resumed> => {parent_tid=[8]}, 88) = 8\n7 write(3, \"a\", 1 <unfinished ...>\n7 <... write resumed>) = 1\n8 +++ exited with 0 +++\n",
		opened + a + "rename(\"/d/log\", \"/d/old\") = 0\n" + opened + a + "unlink(\"/d/log\") = 0\n",
		opened + "open(\"/d/t\", O_RDWR|O_CREAT, 0600) = 4\nwrite(4, \"b\", 1) = 1\nrenameat2(AT_FDCWD, \"/d/t\", AT_FDCWD, \"/d/log\", RENAME_EXCHANGE) = 0\n" + a,
		opened + "writev(3, [{iov_base=\"ab\", iov_len=2}, ...], 2) = 2\npwritev2(3, [{\"c\", 1}], 1, -1, RWF_SYNC) = 1\nftruncate(3, 1) = 0\nfallocate(3, FALLOC_FL_ZERO_RANGE, 0, 9) = 0\n",
		"openat(AT_FDCWD</d>, \"l\", O_WRONLY|O_APPEND|O_CREAT|O_SYNC) = 3</d/l>\npwrite64(3</d/l>, \"a\", 1, 0) = 1\nwrite(9</dev/x<char 1:3>>, \"\", 0) = 0\n",
		opened + "dup2(3, 5) = 5\nfcntl(5, F_DUPFD, 7) = 7\nlseek(7, 0, SEEK_END) = 0\nchdir(\"x\") = 0\nfchdir(5) = 0\n_llseek(3, 1, [1], SEEK_SET) = 0\nclose_range(3, 7, 0) = 0\nexecve(\"a\", [], NULL) = 0\nlink(\"/d/log\", \"/d/b\") = 0\nsync() = 0\nmmap(NULL, 1, PROT_WRITE, MAP_SHARED, 3, 0) = 0x1\n",
		"12:00:00 (+     0.1) " + opened + "--- SIGINT {} ---\nstrace: Process 3 attached\n | 0 1\n????( <unfinished ...>\n+++ killed by SIGKILL +++\n",
	} {
		f.Add([]byte(seed), "")
	}
	f.Add([]byte(opened+a), "*log")
	f.Fuzz(func(t *testing.T, text []byte, file string) {
		opts := Options{File: file, MaxOps: 1000, MaxBytes: 1 << 16, MaxOffset: 1 << 20, MaxLine: 1 << 14}
		tr, err := Parse(bytes.NewReader(text), opts)
		if err != nil {
			if pe := (*ParseError)(nil); !errors.As(err, &pe) || pe.Line > bytes.Count(text, []byte("\n"))+1 {
				t.Fatalf("unexpected error: %v", err)
			}
			return
		}
		checkTrace(t, tr, opts)
	})
}

// checkTrace checks what holds for every Trace.
func checkTrace(t *testing.T, tr *Trace, opts Options) {
	line, bytes := 0, int64(0)
	for i, op := range tr.Ops {
		if op.Line < line || op.Line > tr.Lines {
			t.Fatalf("op %d is of line %d, after line %d of %d", i, op.Line, line, tr.Lines)
		}
		line = op.Line
		bytes += int64(len(op.Data))
		end := op.Offset + int64(len(op.Data))
		bad := op.Offset < 0 || op.Size < 0 || end > opts.MaxOffset || op.Size > opts.MaxOffset
		switch op.Kind {
		case Write:
			bad = bad || len(op.Data) == 0
		case Replace:
			bad = bad || int64(len(op.Data)) != op.Size
		case Create, Open, Truncate, Sync, Rename, Unlink:
			bad = bad || op.Data != nil
		default:
			bad = true
		}
		if bad {
			t.Fatalf("op %d is wrong: %+v", i, op)
		}
	}
	if len(tr.Ops) > opts.MaxOps || bytes > opts.MaxBytes || !opts.matches(tr.File) || len(tr.Files) == 0 {
		t.Fatalf("%d ops with %d bytes of %q", len(tr.Ops), bytes, tr.File)
	}
}
