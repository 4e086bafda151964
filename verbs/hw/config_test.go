package hw

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/verbatim-rdma/verbatim/verbs"
)

func TestValidate(t *testing.T) {
	for name, c := range map[string]Config{
		"Port": {Port: 256}, "GIDType": {GIDType: RoCEv1 + 1}, "Timeout": {Timeout: 32}, "MinRNRTimer": {MinRNRTimer: -1},
		"ServiceLevel": {ServiceLevel: 16}, "TrafficClass": {TrafficClass: 256}, "HopLimit": {HopLimit: 256}, "PKeyIndex": {PKeyIndex: 1 << 16},
		"MaxInline": {MaxInline: -1}, "MTU": {MTU: 1500}, "Spin": {Spin: -2}, `GID "fe80::1%eth0"`: {GID: "fe80::1%eth0"},
	} {
		if err := c.Validate(); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []Config{{}, {Port: 2, GIDType: RoCEv2, GID: "192.0.2.1", MTU: 4096, Timeout: 31, Spin: NoSpin}} {
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		d := c.complete()
		if err := d.Validate(); err != nil || d.Port == 0 || d.Timeout == 0 || d.MinRNRTimer == 0 || d.Spin == 0 {
			t.Errorf("with defaults: %+v, %v", d, err)
		}
	}
}

func TestPickGID(t *testing.T) {
	gid := func(s string) [16]byte {
		g, err := parseGID(s)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	table := []gidEntry{
		{gid("fe80::1"), RoCEv1, 0, 1}, {gid("fe80::1"), RoCEv2, 1, 1}, {gid("192.0.2.1"), RoCEv1, 2, 1},
		{gid("192.0.2.1"), RoCEv2, 3, 1}, {gid("192.0.2.2"), RoCEv2, 4, 1}, {gid("192.0.2.9"), RoCEv2, 0, 2},
		{gid("fe80::2"), IB, 0, 3}, {gid("192.0.2.3"), RoCEv2, 256, 1}, // no request can name the last
	}
	for _, tt := range []struct {
		cfg   Config
		index int
	}{
		{Config{Port: 1}, 3}, {Config{Port: 2}, 0}, {Config{Port: 3}, 0}, {Config{Port: 1, GIDType: RoCEv1}, 2},
		{Config{Port: 1, GID: "192.0.2.2"}, 4}, {Config{Port: 1, GID: "::ffff:192.0.2.1"}, 3},
		{Config{Port: 1, GID: "fe80::1"}, 1}, {Config{Port: 1, GID: "fe80::1", GIDType: RoCEv1}, 0},
	} {
		if e, err := tt.cfg.pickGID(table); err != nil || e.index != tt.index || e.port != tt.cfg.Port {
			t.Errorf("%+v: %v, %v", tt.cfg, e, err)
		}
	}
	for _, cfg := range []Config{{Port: 4}, {Port: 1, GIDType: IB}, {Port: 1, GID: "192.0.2.9"}, {Port: 1, GID: "192.0.2.3"}} {
		_, err := cfg.pickGID(table)
		if !errors.Is(err, ErrConfig) || cfg.Port == 1 && !strings.Contains(err.Error(), "192.0.2.2 (RoCE v2, index 4)") {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

func TestMTU(t *testing.T) {
	for code := range 7 {
		if n := mtuBytes(code); n != 0 && mtuCode(n) != code || n == 0 != (code < 1 || code > 5) {
			t.Errorf("code %d is %d bytes", code, n)
		}
	}
	if mtuCode(1500) != 0 {
		t.Error("1500 bytes have a code")
	}
}

func TestCheckQP(t *testing.T) {
	attr := &verbs.DeviceAttr{Name: "card0", MaxInline: 64, MaxSGE: 2, MaxQPWR: 128, MaxRdAtomic: 16}
	got, err := checkQP(verbs.QPConfig{}, attr)
	want := verbs.QPConfig{MaxSendWR: 64, MaxRecvWR: 64, MaxSGE: 2, MaxRdAtomic: 16, RetryCount: 7, RNRRetry: 7}
	if got != want || err != nil {
		t.Errorf("defaults: %+v, %v", got, err)
	}
	for name, cfg := range map[string]verbs.QPConfig{
		"MaxSendWR": {MaxSendWR: 129}, "MaxRecvWR": {MaxRecvWR: -1}, "MaxSGE": {MaxSGE: 3}, "MaxInline": {MaxInline: 65},
		"MaxRdAtomic": {MaxRdAtomic: 17}, "RetryCount": {RetryCount: 8}, "RNRRetry": {RNRRetry: -1}, "PSN": {PSN: 1 << 24},
	} {
		_, err := checkQP(cfg, attr)
		if !errors.Is(err, verbs.ErrInvalid) || !strings.Contains(err.Error(), "card0: create QP") || !strings.Contains(err.Error(), name+" is") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckEndpoint(t *testing.T) {
	good := verbs.Endpoint{GID: [16]byte{1}, LID: 3, QPN: 17, PSN: 5, MTU: 1024}
	for _, roce := range []bool{false, true} {
		if err := checkEndpoint(good, roce); err != nil {
			t.Error(err)
		}
	}
	for name, f := range map[string]func(*verbs.Endpoint){
		"QP number": func(e *verbs.Endpoint) { e.QPN = 1 << 24 }, "sequence number": func(e *verbs.Endpoint) { e.PSN = 1 << 24 },
		"MTU": func(e *verbs.Endpoint) { e.MTU = 0 }, "GID": func(e *verbs.Endpoint) { e.GID, e.LID = [16]byte{}, 0 },
	} {
		bad := good
		f(&bad)
		for _, roce := range []bool{false, true} {
			if err := checkEndpoint(bad, roce); !errors.Is(err, verbs.ErrInvalid) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for e, want := range map[syscall.Errno]error{
		syscall.EINVAL: verbs.ErrInvalid, syscall.EBUSY: verbs.ErrBusy, syscall.EOPNOTSUPP: verbs.ErrUnsupported, syscall.EIO: ErrDead,
		syscall.EACCES: syscall.EACCES,
	} {
		err := callError("card0", "register 8 bytes", e, "a hint")
		if !errors.Is(err, want) || !errors.Is(err, e) {
			t.Errorf("%v wraps not both %v and %v", err, want, e)
		}
		for _, s := range []string{"card0", "register 8 bytes", errnoName(e), "a hint"} {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%q does not say %q", err, s)
			}
		}
	}
	if h := hintRegister(syscall.ENOMEM, "65536 bytes"); !strings.Contains(h, "65536") || !strings.Contains(h, "ulimit -l") {
		t.Error(h)
	}
	if h := hintRegister(syscall.EFAULT, ""); !strings.Contains(h, "file") {
		t.Error(h)
	}
	if n := errnoName(4242); n != "errno 4242" {
		t.Error(n)
	}
	for name, there := range map[string][]string{"a": nil, "": {"b", "c"}, "d": {"e"}} {
		err := noDevice(name, there)
		if !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), strings.Join(there, ", ")) {
			t.Error(err)
		}
	}
	if l := lockLimit(); l == "" || l == "unknown" {
		t.Error(l)
	}
}

func TestMemory(t *testing.T) {
	m, err := NewMemory(5000, false)
	if err != nil {
		t.Fatal(err)
	}
	if m.Len() != 5000 || len(m.Bytes()) != 5000 || m.Addr()%4096 != 0 {
		t.Errorf("%d bytes at %#x", m.Len(), m.Addr())
	}
	if err := m.Pin(); err != nil {
		t.Fatal(err)
	}
	if err := m.Free(); !errors.Is(err, verbs.ErrBusy) {
		t.Errorf("free while it is pinned: %v", err)
	}
	m.Unpin()
	if err := m.Free(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(m.Free(), m.Pin()); !errors.Is(err, verbs.ErrClosed) {
		t.Errorf("after Free: %v", err)
	}
	if _, err := NewMemory(0, false); err == nil {
		t.Error("no bytes")
	}
}
