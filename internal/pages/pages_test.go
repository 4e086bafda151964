package pages

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestMap(t *testing.T) {
	for _, size := range []int{1, 4096, 4097, 1 << 20} {
		b, err := Map(size, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) != size || Addr(b)%uint64(os.Getpagesize()) != 0 {
			t.Errorf("%d bytes: got %d at %#x", size, len(b), Addr(b))
		}
		if !bytes.Equal(b, make([]byte, size)) {
			t.Errorf("%d bytes: not zeroed", size)
		}
		b[size-1] = 1
		if err := Unmap(b); err != nil {
			t.Error(err)
		}
	}
	if _, err := Map(0, false); !errors.Is(err, unix.EINVAL) {
		t.Errorf("no bytes: %v", err)
	}
}

// Where there are no huge pages the error says how to get some.
func TestHuge(t *testing.T) {
	b, err := Map(1, true)
	if err != nil {
		if !bytes.Contains([]byte(err.Error()), []byte("vm.nr_hugepages")) {
			t.Error(err)
		}
		return
	}
	if err := Unmap(b); err != nil {
		t.Error(err)
	}
}

func TestMapFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(name)
	if err == nil {
		err = f.Truncate(10000)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, _, err := MapFile(f, 10000)
	if err != nil {
		t.Fatal(err)
	}
	copy(b[5000:], "hello")
	if err := Sync(b, 5000, 5); err != nil {
		t.Error(err)
	}
	got, err := os.ReadFile(name)
	if err != nil || string(got[5000:5005]) != "hello" {
		t.Errorf("the file has %q, %v", got[5000:5005], err)
	}
	if err := Unmap(b); err != nil {
		t.Error(err)
	}
	ro, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	if _, _, err := MapFile(ro, 10000); err == nil {
		t.Error("a file that cannot be written was mapped")
	}
}
