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
	if _, err := (QPConfig{Access: 1 << 7}).Resolve(&DeviceAttr{MaxSGE: 1, MaxQPWR: 64}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a queue pair with access that does not exist: %v", err)
	}
}
