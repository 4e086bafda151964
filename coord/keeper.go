package coord

import "encoding/binary"

// Keeper is a [Store] for a real process: a session expires after Ticks ticks of the
// caller's clock without a CheckSession. It is not safe for concurrent use.
//
// It counts ticks rather than time: a service that was stopped counts one tick for the
// whole pause, and does not count the heartbeats that it could not receive as missing.
type Keeper struct {
	Store
	// Ticks is the number of ticks that may pass without a heartbeat.
	Ticks int
	// After is the number after which session numbers start. A restarted process does
	// not know the sessions of its predecessor and must not reuse their numbers: the
	// holder of an old session would take a new one for its own.
	After Session

	silent map[Session]int // ticks since the last heartbeat
}

// Apply is [Store.Apply], and records heartbeats.
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

// Tick advances the clock by one tick. It returns the sessions that it expired.
func (k *Keeper) Tick() []SessionInfo {
	over := k.Due()
	for _, s := range over {
		k.ExpireSession(s.ID)
	}
	return over
}

// Due is Tick for a service that must record an expiry first: the caller expires the sessions that Due returns. Until
// then the next Due returns them again.
func (k *Keeper) Due() []SessionInfo {
	var over []SessionInfo
	for _, s := range k.Sessions(nil) {
		if n, known := k.silent[s.ID]; !known {
			k.hear(s.ID) // opened at an earlier service: the time of its last heartbeat is unknown
		} else if k.silent[s.ID] = n + 1; n >= k.Ticks {
			over = append(over, s)
		}
	}
	return over
}

// ExpireSession is [Store.ExpireSession].
func (k *Keeper) ExpireSession(s Session) bool {
	delete(k.silent, s)
	return k.Store.ExpireSession(s)
}
