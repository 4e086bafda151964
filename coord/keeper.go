package coord

import "encoding/binary"

// Keeper is a [Store] for a real process: a session ends when nobody has asked for it,
// by CheckSession, for some ticks of its caller's clock. It is not safe for concurrent use.
//
// Ticks, and no times: a service that stood still counts one tick for all that while,
// and not the heartbeats that it could not hear as missing.
type Keeper struct {
	Store
	// Ticks is how many may pass without a heartbeat.
	Ticks int
	// After is where the numbers of sessions begin. A process that begins anew knows no
	// session of the one before, and must not give out a number of them again: whoever has
	// it would take the new session for its own.
	After Session

	silent map[Session]int // ticks since the last heartbeat
}

// Apply is [Store.Apply], and hears heartbeats.
func (k *Keeper) Apply(from string, req []byte) []byte {
	k.last = max(k.last, k.After)
	resp := k.Store.Apply(from, req)
	r, ok := decodeRequest(req)
	if !ok || code(resp[0]) != codeOK {
		return resp
	}
	switch r.op {
	case opNewSession:
		k.hear(Session(binary.LittleEndian.Uint64(resp[1:])))
	case opCheckSession:
		k.hear(Session(r.num))
	case opCloseSession:
		delete(k.silent, Session(r.num))
	}
	return resp
}

func (k *Keeper) hear(s Session) {
	if k.silent == nil {
		k.silent = map[Session]int{}
	}
	k.silent[s] = 0
}

// Tick is one tick of the clock. It returns the sessions that it has ended.
func (k *Keeper) Tick() []SessionInfo {
	var over []SessionInfo
	for _, s := range k.Sessions(nil) {
		if k.silent[s.ID]++; k.silent[s.ID] > k.Ticks {
			over = append(over, s)
		}
	}
	for _, s := range over {
		k.ExpireSession(s.ID)
		delete(k.silent, s.ID)
	}
	return over
}
