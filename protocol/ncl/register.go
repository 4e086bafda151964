package ncl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/verbatim-rdma/verbatim/coord"
	ctrl "github.com/verbatim-rdma/verbatim/kit/entry"
)

const peersPrefix = "peers/"

var errNobody = errors.New("no peer has registered with the controller")

// register enters the peer's name and the memory that it can still lend at the controller
// (4.3). A restarted peer finds its name there, and updates the figure.
func (p *peer) register() error {
	if p.coord == nil || p.quiet {
		return nil
	}
	err := ctrl.Put(p.coord, peersPrefix+p.h.Name(), p.figure())
	p.told = p.taken
	if err != nil {
		p.told = -1 // the controller may or may not have this figure
	}
	return err
}

// tell updates the controller's figure (4.3, step 4a). The figure is only a hint: if
// the controller is unreachable, the next change updates it too.
func (p *peer) tell() {
	if p.coord == nil || p.quiet || p.told == p.taken {
		return
	}
	if err := p.register(); err != nil {
		p.note("report the memory left to lend to the controller", err)
	}
}

// figure is the memory that is left to lend. Memory that could not be freed counts in addition to the memory of the files;
// their sum may exceed the limit.
func (p *peer) figure() []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(max(p.limit-p.taken, 0)))
}

// candidates returns the peers that may accept a file of size bytes, in order of
// preference: the configured peers, or those that have the memory according to the
// controller (4.3, steps 1 and 2). They are hints. A peer that has failed this file is
// last.
func (f *File) candidates() ([]string, error) {
	names := f.cfg.Peers
	if len(names) == 0 {
		var err error
		if names, err = f.registered(); err != nil {
			return nil, err
		}
	}
	var fresh, failed []string
	for _, name := range names {
		switch l := f.linkTo(name); {
		case l == nil:
			fresh = append(fresh, name)
		case l.Err != nil:
			failed = append(failed, name)
		}
	}
	return append(fresh, failed...), nil
}

// registered returns the peers that the controller lists. Peers without memory for the file are last: the figure of
// the controller may be out of date.
func (f *File) registered() ([]string, error) {
	peers, err := Peers(f.cfg.Coord)
	if err != nil {
		return nil, err
	}
	if len(peers) == 0 {
		f.rejected = errNobody
	}
	need := claim(f.entry.size)
	var out, full []string
	for _, p := range peers {
		switch {
		case p.Err != nil:
			f.rejected = p.Err
		case p.Left < need:
			full = append(full, p.Name)
		default:
			out = append(out, p.Name)
		}
	}
	return append(out, full...), nil
}

// Registered is a log peer as the controller knows it.
type Registered struct {
	Name string
	Left int   // bytes that it can still lend: a file takes twice its size and 16
	Err  error // or its entry is malformed; wraps [ErrMalformed]
}

// Peers lists the registered log peers.
func Peers(c coord.Client) ([]Registered, error) {
	keys, err := c.List(peersPrefix)
	if err != nil {
		return nil, err
	}
	var out []Registered
	for _, key := range keys {
		figure, _, err := c.Get(key)
		if errors.Is(err, coord.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		p := Registered{Name: strings.TrimPrefix(key, peersPrefix)}
		if len(figure) == 8 && validName(p.Name) && !strings.Contains(p.Name, "/") {
			p.Left = int(min(binary.BigEndian.Uint64(figure), math.MaxInt))
		} else {
			p.Err = fmt.Errorf("%w: the %d bytes of %s at the controller are not an entry of a peer", ErrMalformed, len(figure), key)
		}
		out = append(out, p)
	}
	return out, nil
}

func (f *File) linkTo(name string) *link {
	for _, l := range f.links {
		if l.Peer == name {
			return l
		}
	}
	return nil
}
