package strace

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

const opened = `openat(AT_FDCWD, "/d/log", O_RDWR|O_CREAT|O_TRUNC, 0644) = 3` + "\n"

func w(off int64, data string) Op { return Op{Kind: Write, Offset: off, Data: []byte(data)} }

var (
	created = Op{Kind: Create}
	synced  = Op{Kind: Sync}
)

// parseOps returns the ops without lines, which the tables do not repeat.
func parseOps(t *testing.T, text string, opts Options) []Op {
	t.Helper()
	tr, err := Parse(strings.NewReader(text), opts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tr.Ops {
		tr.Ops[i].Line = 0
	}
	return tr.Ops
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		why, text, file string
		want            []Op
	}{
		{"the position moves with each write", opened + "write(3, \"ab\", 2) = 2\nwrite(3, \"c\", 1) = 1\nfsync(3) = 0\n", "",
			[]Op{created, w(0, "ab"), w(2, "c"), synced}},
		{"lseek moves the position", opened + "lseek(3, 10, SEEK_SET) = 10\nwrite(3, \"c\", 1) = 1\n", "", []Op{created, w(10, "c")}},
		{"pwrite64 leaves the position", opened + "pwrite64(3, \"zz\", 2, 40) = 2\nwrite(3, \"c\", 1) = 1\n", "", []Op{created, w(40, "zz"), w(0, "c")}},
		{"O_APPEND writes at the end, even with an offset",
			"open(\"/d/log\", O_WRONLY|O_APPEND|O_CREAT|O_EXCL, 0600) = 3\nwrite(3, \"ab\", 2) = 2\npwrite64(3, \"c\", 1, 0) = 1\n", "", []Op{created, w(0, "ab"), w(2, "c")}},
		{"fcntl can turn O_APPEND on", opened + "write(3, \"ab\", 2) = 2\nlseek(3, 0, SEEK_SET) = 0\nfcntl(3, F_SETFL, O_RDWR|O_APPEND) = 0\nwrite(3, \"c\", 1) = 1\n", "", []Op{created, w(0, "ab"), w(2, "c")}},
		{"O_DSYNC makes each write durable", "creat(\"/d/x\", 0600) = 9\nopen(\"/d/log\", O_WRONLY|O_CREAT|O_DSYNC, 0600) = 3\nwrite(3, \"a\", 1) = 1\n", "", []Op{created, w(0, "a"), synced}},
		{"a short write carries what was written", opened + "write(3, \"abcdef\", 6) = 4\nwrite(3, \"ef\", 2) = 2\n", "", []Op{created, w(0, "abcd"), w(4, "ef")}},
		{"data may be shortened where nothing of it was written", opened + "write(3, \"ab\"..., 600) = 2\n", "", []Op{created, w(0, "ab")}},
		{"a failed write does nothing", opened + "write(3, \"ab\", 2) = -1 ENOSPC (No space left on device)\nwrite(3, \"c\", 1) = 1\n", "", []Op{created, w(0, "c")}},
		{"all escapes", opened + `write(3, "\n\t\"\\\0\1771\x00\xffé", 11) = 11` + "\n", "", []Op{created, w(0, "\n\t\"\\\x00\x7f1\x00\xffé")}},
		{"brackets and commas in data are data", opened + `write(3, ") = 1, {[(", 10) = 10` + "\n", "", []Op{created, w(0, ") = 1, {[(")}},
		{"writev joins its parts", opened + `writev(3, [{iov_base="ab", iov_len=2}, {iov_base="cd", iov_len=2}], 2) = 3` + "\n", "", []Op{created, w(0, "abc")}},
		{"old strace names no fields in writev", opened + `writev(3, [{"ab", 2}, {"cd", 2}], 2) = 4` + "\n", "", []Op{created, w(0, "abcd")}},
		{"pwritev2 may sync and may use the position", opened + `pwritev2(3, [{iov_base="ab", iov_len=2}], 1, -1, RWF_DSYNC) = 2` + "\n" + `pwritev(3, [{iov_base="c", iov_len=1}], 1, 7) = 1` + "\n", "", []Op{created, w(0, "ab"), synced, w(7, "c")}},
		{"dup shares the position", opened + "dup(3) = 4\nwrite(4, \"a\", 1) = 1\nwrite(3, \"b\", 1) = 1\nclose(3) = 0\nwrite(4, \"c\", 1) = 1\n", "", []Op{created, w(0, "a"), w(1, "b"), w(2, "c")}},
		{"a closed descriptor is another file's", opened + "write(3, \"a\", 1) = 1\nclose(3) = 0\nopen(\"/d/other\", O_WRONLY|O_CREAT, 0600) = 3\nwrite(3, \"b\", 1) = 1\n", "log", []Op{created, w(0, "a")}},
		{"a descriptor closed without close is another file's", opened + "write(3, \"a\", 1) = 1\nopen(\"/d/other\", O_WRONLY|O_CREAT, 0600) = 3\nwrite(3, \"b\", 1) = 1\n", "log", []Op{created, w(0, "a")}},
		{"truncation, and none that changes nothing", opened + "write(3, \"abc\", 3) = 3\nftruncate(3, 3) = 0\nftruncate(3, 1) = 0\ntruncate(\"/d/log\", 5) = 0\n", "", []Op{created, w(0, "abc"), {Kind: Truncate, Size: 1}, {Kind: Truncate, Size: 5}}},
		{"opening with O_TRUNC empties", opened + "write(3, \"a\", 1) = 1\n" + opened, "", []Op{created, w(0, "a"), {Kind: Open}, {Kind: Truncate}}},
		{"fallocate grows, clears, or only reserves", opened + "fallocate(3, 0, 0, 4) = 0\nfallocate(3, FALLOC_FL_KEEP_SIZE, 0, 99) = 0\nfallocate(3, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 2, 99) = 0\n", "", []Op{created, {Kind: Truncate, Size: 4}, w(2, "\x00\x00")}},
		{"rotation by unlink", opened + "write(3, \"a\", 1) = 1\nunlink(\"/d/log\") = 0\nwrite(3, \"lost\", 4) = 4\n" + opened + "write(3, \"b\", 1) = 1\n", "", []Op{created, w(0, "a"), {Kind: Unlink}, created, w(0, "b")}},
		{"rotation by rename", opened + "write(3, \"a\", 1) = 1\nrename(\"/d/log\", \"/d/log.1\") = 0\nwrite(3, \"late\", 4) = 4\n" + opened + "write(3, \"b\", 1) = 1\n", "log", []Op{created, w(0, "a"), {Kind: Rename, To: "/d/log.1"}, created, w(0, "b")}},
		{"another file becomes the log with its content", opened + "write(3, \"old\", 3) = 3\n" +
			"open(\"/d/tmp\", O_RDWR|O_CREAT|O_EXCL, 0600) = 4\nwrite(4, \"newer\", 5) = 5\nftruncate(4, 3) = 0\nrenameat2(AT_FDCWD, \"/d/tmp\", AT_FDCWD, \"/d/log\", RENAME_NOREPLACE) = 0\nwrite(4, \"x\", 1) = 1\nwrite(3, \"gone\", 4) = 4\n", "log",
			[]Op{created, w(0, "old"), {Kind: Replace, Size: 3, Data: []byte("new")}, w(5, "x")}},
		{"two files change names", opened + "write(3, \"log\", 3) = 3\nopen(\"/d/b\", O_WRONLY|O_CREAT, 0600) = 4\nwrite(4, \"b\", 1) = 1\nrenameat2(AT_FDCWD, \"/d/b\", AT_FDCWD, \"/d/log\", RENAME_EXCHANGE) = 0\nwrite(4, \"c\", 1) = 1\n", "log",
			[]Op{created, w(0, "log"), {Kind: Replace, Size: 1, Data: []byte("b")}, w(1, "c")}},
		{"two parts of a call are one, at its end", "7 " + opened + "7 write(3, \"a\", 1 <unfinished ...>\n8 fsync(3) = 0\n7 <... write resumed>) = 1\n", "", []Op{created, synced, w(0, "a")}},
		{"a call that never ended did nothing", "7 " + opened + "7 write(3, \"a\", 1) = 1\n7 write(3, \"b\", 1 <unfinished ...>\n7 +++ killed by SIGKILL +++\n", "", []Op{created, w(0, "a")}},
		{"a child has descriptors of its own", "7 " + opened + "7 clone(child_stack=NULL, flags=SIGCHLD) = 8\n8 close(3) = 0\n8 open(\"/d/o\", O_WRONLY|O_CREAT, 0600) = 3\n8 write(3, \"b\", 1) = 1\n7 write(3, \"a\", 1) = 1\n", "log", []Op{created, w(0, "a")}},
		{"a thread shares them, seen before its clone ends", "7 clone3({flags=CLONE_VM|CLONE_FILES, exit_signal=0}, 88 <unfinished ...>\n8 " + opened + "7 <... clone3 resumed> => {parent_tid=[8]}, 88) = 8\n7 write(3, \"a\", 1) = 1\n", "", []Op{created, w(0, "a")}},
		{"exec closes what is marked", "open(\"/d/x\", O_WRONLY|O_CREAT|O_CLOEXEC, 0600) = 4\n" + opened + "execve(\"/bin/a\", [\"a\"], 0x7ffe /* 9 vars */) = 0\nwrite(4, \"n\", 1) = 1\nwrite(3, \"y\", 1) = 1\n", "", []Op{created, w(0, "y")}},
		{"numbers appear only while there are two processes", opened + "fork() = 8\nstrace: Process 8 attached\n[pid     7] write(3, \"a\", 1) = 1\n[pid     8] write(3, \"b\", 1) = 1\n[pid     8] +++ exited with 0 +++\n--- SIGCHLD {si_signo=SIGCHLD} ---\nwrite(3, \"c\", 1) = 1\n+++ exited with 0 +++\n", "", []Op{created, w(0, "a"), w(1, "b"), w(2, "c")}},
		{"relative names and folders", "chdir(\"/d\") = 0\nopen(\"sub\", O_RDONLY|O_DIRECTORY) = 5\nopenat(5, \"../log\", O_WRONLY|O_CREAT|O_TRUNC, 0600) = 3\nwrite(3, \"a\", 1) = 1\nunlink(\"./log\") = 0\n", "/d/log", []Op{created, w(0, "a"), {Kind: Unlink}}},
		{"-y and -yy notes", "openat(AT_FDCWD</d>, \"log\", O_WRONLY|O_CREAT|O_TRUNC, 0600) = 3</d/log>\nwrite(1</dev/pts/0<char 136:0>>, \"o\", 1) = 1\nwrite(5<TCP:[10.0.0.1:80->10.0.0.2:9]>, \"o\", 1) = 1\nwrite(3</d/log>, \"a\", 1) = 1\n", "", []Op{created, w(0, "a")}},
		{"-y names a file whose open is not there", "pwrite64(9<\\x2f\\x64\\x2f\\x6c>, \"a\", 1, 4) = 1\nfsync(9</d/l>) = 0\n", "", []Op{{Kind: Open}, w(4, "a"), synced}},
		{"faults in other files do no harm", opened + "open(\"/d/o\", O_WRONLY|O_CREAT, 0600) = 4\nwrite(4, \"sho\"..., 99) = 99\nwrite(3, \"a\", 1) = 1\nfsync(3) = 0\n", "", []Op{created, w(0, "a"), synced}},
		{"stack traces and dumps are decoration", opened + "write(3, \"a\", 1) = 1\n | 00000  61   a |\n > /lib/libc.so.6(write+0x4d) [0xf7]\n", "", []Op{created, w(0, "a")}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := parseOps(t, tc.text, Options{File: tc.file})
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("ops (-want +got):\n%s", d)
			}
		})
	}
}

func TestPrefixes(t *testing.T) {
	for why, p := range map[string]string{
		"none": "", "pid": "1234  ", "pid in brackets": "[pid  1234] ", "-Y": "1234<redis-server> ", "-t": "12:00:01 ", "-f -tt": "77 12:00:01.000002 ",
		"-f -ttt": "77 1700000000.000002 ", "seconds alone": "1700000000 ", "-r": "     0.000012 ", "-f -r -tt": "77 12:00:00 (+     0.000012) ", "-i": "[00007f12ab] ", "-n": "[   1] ",
	} {
		t.Run(why, func(t *testing.T) {
			text := p + opened + p + "write(3, \"a\", 1)        = 1 <0.000012>\n" + p + "+++ exited with 0 +++\n"
			if d := cmp.Diff([]Op{created, w(0, "a")}, parseOps(t, text, Options{})); d != "" {
				t.Errorf("ops (-want +got):\n%s", d)
			}
		})
	}
}

func TestErrorsSayLineReasonAndRemedy(t *testing.T) {
	a := "write(3, \"a\", 1) = 1\n"
	for _, tc := range []struct {
		why, text string
		opts      Options
		want      error
		parts     string
	}{
		{"an empty file", "", Options{}, ErrEmpty, "strace -o"},
		{"blank lines only", "\n\n", Options{}, ErrEmpty, ""},
		{"a foreign file", "\nhello world\n", Options{}, ErrNotStrace, "line 2, column 1|hello world"},
		{"a binary file", "\x7fELF\x02\x01", Options{}, ErrNotStrace, "line 1"},
		{"cut off in data", opened + "write(3, \"abc", Options{}, ErrCutOff, "line 2, column 10"},
		{"cut off before the result", opened + a + "fsync(3) ", Options{}, ErrCutOff, "line 3"},
		{"cut off in a call that does not matter", opened + a + "getpid(", Options{}, ErrCutOff, "line 3"},
		{"cut off in a call's name", opened + a + "fsy", Options{}, ErrCutOff, "line 3"},
		{"a damaged line in the middle", opened + "write(3, \"abc\n" + a, Options{}, ErrSyntax, "line 2, column 10"},
		{"the program's output mixed in", opened + a + "Hello, user\n", Options{}, ErrSyntax, "line 3|-o"},
		{"no result", opened + "write(3, \"a\", 1)\n", Options{}, ErrSyntax, "line 2|result"},
		{"shortened data", opened + "write(3, \"a\"..., 99) = 99\n", Options{}, ErrTruncatedString, "line 2, column 10|-s 1000000"},
		{"a shortened list", opened + "writev(3, [{iov_base=\"a\", iov_len=1}, ...], 2) = 2\n", Options{}, ErrTruncatedString, "line 2"},
		{"less data than written", opened + "write(3, \"a\", 9) = 9\n", Options{}, ErrSyntax, "line 2"},
		{"an unknown escape", opened + `write(3, "ab\q", 3) = 3` + "\n", Options{}, ErrSyntax, "line 2, column 13"},
		{"too few arguments", opened + "write(3) = 1\n", Options{}, ErrSyntax, "line 2|arguments"},
		{"a descriptor that is no number", opened + "write(x, \"a\", 1) = 1\n", Options{}, ErrSyntax, "line 2, column 7"},
		{"a second part without a first", opened + "<... write resumed>) = 1\n", Options{}, ErrSyntax, "line 2|beginning"},
		{"syncs to a file opened before the trace", a + "fsync(3) = 0\n", Options{}, ErrUnknownFD, "line 2|descriptor 3|-p"},
		{"more syncs there than to any file", opened + a + "fsync(9) = 0\n", Options{}, ErrUnknownFD, "line 3"},
		{"the position is older than the trace", "write(9</d/l>, \"a\", 1) = 1\n", Options{}, ErrUnknownOffset, "line 1, column 7"},
		{"nothing written", opened + "getpid() = 1\n", Options{}, ErrNoWrites, "2 lines"},
		{"only the terminal written", "write(1, \"a\", 1) = 1\n", Options{}, ErrNoWrites, ""},
		{"another file asked for", opened + a, Options{File: "wal"}, ErrNoFile, "/d/log"},
		{"an offset beyond the limit", opened + "pwrite64(3, \"a\", 1, 9223372036854775807) = 1\n", Options{}, ErrTooLarge, "line 2|MaxOffset"},
		{"a length beyond the limit", opened + a + "ftruncate(3, 100) = 0\n", Options{MaxOffset: 10}, ErrTooLarge, "line 3"},
		{"too many ops", opened + a + a, Options{MaxOps: 2}, ErrTooLarge, "line 3|MaxOps"},
		{"too much data", opened + a + "write(3, \"bcdefgh\", 7) = 7\n", Options{MaxBytes: 10}, ErrTooLarge, "line 3|MaxBytes"},
		{"a line too long", opened, Options{MaxLine: 20}, ErrTooLarge, "line 1|MaxLine"},
		{"the log is mapped", opened + a + "mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 3, 0) = 0x7f12\n", Options{}, ErrUnsupported, "line 3|mmap"},
		{"a file of unknown content becomes the log", opened + a + "rename(\"/d/x\", \"/d/log\") = 0\n", Options{}, ErrUnknownContent, "line 3|/d/x"},
		{"a bad pattern", opened, Options{File: "[a"}, ErrBadOptions, ""},
		{"a negative limit", opened, Options{MaxOps: -1}, ErrBadOptions, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			_, err := Parse(strings.NewReader(tc.text), tc.opts)
			if !errors.Is(err, tc.want) {
				t.Fatalf("error is %v, want %v", err, tc.want)
			}
			for _, part := range strings.Split(tc.parts, "|") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
			if pe := (*ParseError)(nil); !errors.As(err, &pe) {
				t.Errorf("error %v is no ParseError", err)
			}
		})
	}
}

func TestReadersErrorIsKept(t *testing.T) {
	_, err := Parse(io.MultiReader(strings.NewReader(opened), iotest.ErrReader(io.ErrClosedPipe)), Options{})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error is %v", err)
	}
}

func TestFilesAreOrderedBySyncsThenWrites(t *testing.T) {
	text := opened + "open(\"/d/few\", O_WRONLY|O_CREAT, 0600) = 4\nopen(\"/d/many\", O_WRONLY|O_CREAT, 0600) = 5\n" +
		"write(3, \"a\", 1) = 1\nfsync(3) = 0\nwrite(4, \"ab\", 2) = 2\nwrite(5, \"a\", 1) = 1\nwrite(5, \"a\", 1) = 1\n"
	tr, err := Parse(strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []FileInfo{{"/d/log", 1, 1, 1}, {"/d/many", 2, 0, 2}, {"/d/few", 1, 0, 2}}
	if d := cmp.Diff(want, tr.Files); d != "" || tr.File != "/d/log" {
		t.Errorf("log %q; files (-want +got):\n%s", tr.File, d)
	}
}

func TestAssumptionsAreNoted(t *testing.T) {
	tr, err := Parse(strings.NewReader("open(\"/d/log\", O_WRONLY|O_APPEND) = 3\nwrite(3, \"a\", 1) = 1\n"), Options{})
	if err != nil || len(tr.Notes) != 1 || !strings.Contains(tr.Notes[0], "empty at the start") {
		t.Errorf("trace %+v, error %v", tr, err)
	}
}
