package oshost

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

func alloc(t *testing.T, size int) host.Region {
	t.Helper()
	r, err := newHost(t, Config{Name: "a"}).Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func panics(t *testing.T, want error, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if err, ok := recover().(error); !ok || !errors.Is(err, want) {
			t.Errorf("it panics with %v, want %v", err, want)
		}
	}()
	f()
}

func exercise(t *testing.T, r host.Region) {
	t.Helper()
	got := make([]byte, 5)
	r.Store(3, []byte("hello"))
	if r.Load(3, got); string(got) != "hello" {
		t.Errorf("loaded %q", got)
	}
	r.Store64(16, 0x0102030405060708)
	if r.Load(16, got); !bytes.Equal(got, []byte{8, 7, 6, 5, 4}) || r.Load64(16) != 0x0102030405060708 {
		t.Errorf("a word is %x, %#x", got, r.Load64(16))
	}
	if r.CompareAndSwap64(16, 1, 2) || !r.CompareAndSwap64(16, 0x0102030405060708, 40) || r.Add64(16, 2) != 42 || r.Load64(16) != 42 {
		t.Errorf("atomics leave %d", r.Load64(16))
	}
	r.Flush(0, 24)
	r.Fence()
	for _, off := range []int{-1, 98, 1 << 62} {
		panics(t, host.ErrBounds, func() { r.Load(off, got) })
		panics(t, host.ErrBounds, func() { r.Store(off, got) })
	}
	panics(t, host.ErrBounds, func() { r.Load64(4) })
	panics(t, host.ErrBounds, func() { r.Store64(96, 1) })
}

func TestRegion(t *testing.T) {
	r := alloc(t, 100)
	if r.Len() != 100 || r.Addr()%4096 != 0 || r.Load64(92&^7) != 0 {
		t.Errorf("%d bytes at %#x", r.Len(), r.Addr())
	}
	exercise(t, r)
	if n := testing.AllocsPerRun(50, func() { r.Store64(8, r.Load64(0)+r.Add64(16, 1)) }); n != 0 {
		t.Errorf("access makes %v allocations", n)
	}
	if err := r.(*region).Pin(); err != nil {
		t.Fatal(err)
	}
	wantError(t, r.Free(), []string{"registered"}, verbs.ErrBusy)
	r.(*region).Unpin()
	if err := r.Free(); err != nil {
		t.Error(err)
	}
	wantError(t, r.Free(), nil, host.ErrClosed)
	wantError(t, r.(*region).Pin(), nil, host.ErrClosed)
	panics(t, host.ErrClosed, func() { r.Load64(0) })
	for _, size := range []int{0, -5} {
		_, err := r.(*region).h.Alloc(size)
		wantError(t, err, nil, host.ErrNoMemory)
	}
}

func TestAtomicsOfTasks(t *testing.T) {
	r := alloc(t, 8)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				r.Add64(0, 1)
			}
		})
	}
	wg.Wait()
	if v := r.Load64(0); v != 4000 {
		t.Errorf("counted %d", v)
	}
}

func TestPMEM(t *testing.T) {
	dir := t.TempDir()
	h := newHost(t, Config{Name: "a", PMEMDir: dir})
	const name = "../x/y"
	r, err := h.OpenPMEM(name, 100)
	if err != nil {
		t.Fatal(err)
	}
	exercise(t, r)
	if again, err := h.OpenPMEM(name, 100); again != r || err != nil {
		t.Errorf("opened again: %v, %v", again, err)
	}
	for range 2 {
		if err := r.Free(); err != nil {
			t.Error(err)
		}
	}
	wantError(t, r.Free(), nil, host.ErrClosed)
	// Opened again it is another region, which a late Free of the old one does not
	// affect.
	anew, err := h.OpenPMEM(name, 100)
	if err != nil || anew == r || anew.Load64(16) != 42 {
		t.Fatal(anew, err)
	}
	wantError(t, r.Free(), nil, host.ErrClosed)
	if again, err := h.OpenPMEM(name, 100); again != anew || err != nil {
		t.Errorf("opened again: %v, %v", again, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("the folder has %v, %v", files, err)
	}
	// Another life finds the content.
	next := newHost(t, Config{Name: "a", PMEMDir: dir})
	if r, err = next.OpenPMEM(name, 100); err != nil || r.Load64(16) != 42 {
		t.Fatal(r, err)
	}
	_, err = next.OpenPMEM(name, 200)
	wantError(t, err, []string{"it has 100 bytes, not 200"}, host.ErrBounds)
	_, err = h.OpenPMEM(name, 200)
	wantError(t, err, []string{"it has 100 bytes, not 200"}, host.ErrBounds)
	_, err = h.OpenPMEM("", 200)
	wantError(t, err, nil, host.ErrNoMemory)
	_, err = newHost(t, Config{Name: "b"}).OpenPMEM("x", 8)
	wantError(t, err, []string{"PMEMDir"}, host.ErrNoMemory)
}

// A truncated file raises the same signal as bad memory.
func TestMediaError(t *testing.T) {
	dir := t.TempDir()
	h := newHost(t, Config{Name: "a", PMEMDir: dir})
	r, err := h.OpenPMEM("x", 16<<10)
	if err != nil {
		t.Fatal(err)
	}
	r.Store(0, []byte("good"))
	if err := os.Truncate(filepath.Join(dir, "pmem-x"), 4096); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 4)
	err = host.TryLoad(r, 8192, p)
	wantError(t, err, []string{`region "x"`, "[8192,8196)"}, host.ErrMedia)
	panics(t, host.ErrMedia, func() { r.Load64(8192) })
	panics(t, host.ErrMedia, func() { r.Store(8192, p) })
	panics(t, host.ErrMedia, func() { r.Add64(8192, 1) })
	if err := host.TryLoad(r, 0, p); err != nil || string(p) != "good" {
		t.Errorf("next to it: %q, %v", p, err)
	}
}

// Each instruction that the processor has can be executed, on any alignment.
func TestFlushInstructions(t *testing.T) {
	if !canFlush {
		t.Skip("no flush instructions in this build")
	}
	r := alloc(t, 4096).(*region)
	for with := range flushWith + 1 {
		for _, span := range [][2]int{{0, 0}, {0, 1}, {63, 2}, {1, 4095}, {0, 4096}} {
			flushBy(r.Bytes()[span[0]:span[0]+span[1]], with)
		}
	}
	storeFence()
}

func TestHostServices(t *testing.T) {
	var said []string
	h := newHost(t, Config{Name: "a", Logf: func(f string, args ...any) { said = append(said, f) }})
	if h.Name() != "a" {
		t.Error(h.Name())
	}
	before := h.Now()
	h.Sleep(1)
	if h.Now() < before || h.Rand(1) != 0 || h.Rand(10) > 9 {
		t.Error("clock or random numbers")
	}
	m := h.NewMutex()
	c := h.NewCond(m)
	ready := false
	h.Go("other", func() { m.Lock(); ready = true; c.Broadcast(); m.Unlock() })
	m.Lock()
	for !ready {
		c.Wait()
	}
	m.Unlock()
	if h.Logf("x"); strings.Join(said, "") != "x" {
		t.Errorf("logged %q", said)
	}
}

// A host without a device returns an error for each use of one.
func TestNoDevice(t *testing.T) {
	d := newHost(t, Config{Name: "a"}).Device()
	_, pd := d.AllocPD()
	_, ch := d.CreateCompChannel()
	_, cq := d.CreateCQ(1, nil)
	for what, err := range map[string]error{"PD": pd, "channel": ch, "CQ": cq, "Close": d.Close()} {
		if !errors.Is(err, ErrNoDevice) || !errors.Is(err, verbs.ErrUnsupported) || !strings.Contains(err.Error(), "Config.Device") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if a := d.Attr(); a.Name != "none" || a.MaxQPWR != 0 {
		t.Errorf("%+v", a)
	}
}
