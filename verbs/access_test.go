package verbs

import (
	"errors"
	"testing"
)

// Each backend implemented these rules itself, and the simulator accepted flags in Modify that no card
// accepts.
func TestAccessRules(t *testing.T) {
	for _, c := range []struct {
		access        Access
		flush         bool
		use, register error
	}{
		{0, false, nil, nil},
		{LocalWrite | RemoteWrite | RemoteRead | RemoteAtomic, false, nil, nil},
		{RemoteRead, false, nil, nil},
		{RemoteWrite, false, nil, ErrInvalid},
		{RemoteAtomic | RemoteRead, false, nil, ErrInvalid},
		{FlushGlobal, false, ErrUnsupported, ErrUnsupported},
		{LocalWrite | FlushPersistent, false, ErrUnsupported, ErrUnsupported},
		{LocalWrite | RemoteWrite | FlushGlobal | FlushPersistent, true, nil, nil},
		{1 << 6, true, ErrInvalid, ErrInvalid},
		{LocalWrite | 1<<7, false, ErrInvalid, ErrInvalid},
	} {
		if err := CheckAccess(c.access, c.flush); !errors.Is(err, c.use) || c.use == nil && err != nil {
			t.Errorf("%#x for a queue pair, Flush %v: %v, want %v", c.access, c.flush, err, c.use)
		}
		if err := CheckRegistration(c.access, c.flush); !errors.Is(err, c.register) || c.register == nil && err != nil {
			t.Errorf("%#x for memory, Flush %v: %v, want %v", c.access, c.flush, err, c.register)
		}
	}
	if a := RemoteRead | LocalWrite; !a.Grants(0) || !a.Grants(RemoteRead) || a.Grants(RemoteRead|RemoteWrite) {
		t.Errorf("%#x grants something else", a)
	}
	if _, err := (QPConfig{Access: 1 << 7}).Resolve(&DeviceAttr{MaxSGE: 1, MaxQPWR: 64}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a queue pair with access that does not exist: %v", err)
	}
}

// piece is memory of any address and length.
type piece struct {
	addr uint64
	size int
}

func (p piece) Addr() uint64 { return p.addr }
func (p piece) Len() int     { return p.size }

const top = ^uint64(0)

func TestCheckMemory(t *testing.T) {
	for _, c := range []struct {
		mem  piece
		want string
	}{
		{piece{0, 1}, ""},
		{piece{4096, 1 << 30}, ""},
		{piece{top, 1}, ""},
		{piece{top - 7, 8}, ""},
		{piece{4096, 0}, "verbs: invalid argument: a region of 0 bytes"},
		{piece{4096, -1}, "verbs: invalid argument: a region of -1 bytes"},
		{piece{top - 7, 9}, "verbs: invalid argument: 9 bytes at 0xfffffffffffffff8 exceed the address space"},
	} {
		got := ""
		err := CheckMemory(c.mem)
		if err != nil {
			got = err.Error()
		}
		if got != c.want || (err != nil) != errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %q, want %q", c.mem, got, c.want)
		}
	}
}

func TestCovers(t *testing.T) {
	const base, size = 0x1000, 64
	for _, c := range []struct {
		addr uint64
		n    int
		want bool
	}{
		{base, size, true}, {base, 0, true}, {base + size - 1, 1, true}, {base + size, 0, true},
		{base, size + 1, false}, {base + 1, size, false}, {base + size, 1, false}, {base + size + 1, 0, false},
		{base - 1, 1, false}, {base - 1, 2, false}, {0, 8, false}, {top - 7, 8, false}, {top, 1 << 30, false},
	} {
		if got := Covers(base, size, c.addr, c.n); got != c.want {
			t.Errorf("%d bytes at %#x: %v, want %v", c.n, c.addr, got, c.want)
		}
	}
	if !Covers(top-7, 8, top-3, 4) || Covers(top-7, 8, 0, 0) {
		t.Error("a registration at the end of the address space")
	}
}
