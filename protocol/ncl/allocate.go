package ncl

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	ctrl "github.com/verbatim-rdma/verbatim/kit/entry"
)

// Create makes a new file of size zero bytes: the paper's initialize() (4.2, 4.3). It
// needs all 2f+1 peers; a candidate that rejects the file or does not answer is replaced
// by another one.
func Create(h host.Host, cfg Config, name string, size int) (*File, error) {
	cfg, err := cfg.complete(name)
	if err != nil {
		return nil, err
	}
	if !validSize(size) {
		return nil, fmt.Errorf("%w: file %q of %d bytes, at most %d are allowed", ErrConfig, name, size, MaxSize)
	}
	f, err := newFile(h, cfg, name, entry{generation: generation{epoch: 1}, size: size, f: cfg.F})
	if err == nil {
		err = f.initialize()
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("ncl: create %q: %w", name, err)
	}
	return f, nil
}

// initialize enters the file into the ap-map, asks peers to set up their regions, and
// enters the peers (4.3, steps 1 to 4). The entry precedes every region, so a peer can
// distinguish a claimed region from a leaked one. See finding 4.
func (f *File) initialize() error {
	f.stamp = MakeStamp(f.entry.epoch, 0)
	if err := f.reserve(); err != nil {
		return err
	}
	var err error
	f.links, err = f.enlist(f.entry, opAlloc, f.size())
	if err == nil && len(f.links) < f.size() {
		err = f.tooFew(len(f.links), f.size())
	}
	if err == nil {
		err = f.save(f.entry.with(f.links))
	}
	if err != nil {
		f.abandon()
		return err
	}
	return nil
}

// reserve enters the file into the ap-map, without peers. It replaces the entry of an
// unfinished creation.
func (f *File) reserve() error {
	c := f.cfg.Coord
	old, held, err := loadEntry(c, f.cfg.App, f.name)
	if err == nil && old.created() {
		return fmt.Errorf("%w in epoch %d", ErrExists, old.epoch)
	}
	unfinished := err == nil
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if f.entry.id, err = newID(c, f.cfg.App); err != nil {
		return err
	}
	if unfinished {
		f.held = held
		return f.save(f.entry)
	}
	f.held, err = ctrl.Create(c, f.key(), f.entry.encode())
	if errors.Is(err, coord.ErrExists) {
		err = fmt.Errorf("%w: %w", ErrExists, err)
	}
	return err
}

// size returns the number of peers of the file.
func (f *File) size() int { return 2*f.entry.f + 1 }

// enlist asks candidates to set up a region until need of them have one, and connects to
// them. Before it asks a candidate it enters it into the ap-map, beside the peers of e. It
// returns fewer links if it runs out of candidates, and possibly some links with an error.
//
// It waits for a candidate that does not answer. To keep such waits from adding up, it
// then asks the remaining candidates together, as many as fit into the ap-map. Regions that
// are not needed leak, and their peers reclaim them when they collect.
func (f *File) enlist(e entry, o op, need int) ([]*link, error) {
	names, err := f.candidates()
	var links []*link
	silent := false
	for err == nil && len(links) < need && len(names) > 0 {
		ask := need - len(links)
		if silent {
			ask = 2*MaxF + 1 - len(links)
		}
		batch := names[:min(ask, len(names))]
		names = names[len(batch):]
		e.joining = append(linkNames(links), batch...)
		if err = f.save(e); err != nil {
			break
		}
		var unheard bool
		links, unheard, err = f.enlistBatch(o, links, batch)
		silent = silent || unheard
	}
	if len(links) > need {
		f.drop(links[need:]...)
		links = links[:need]
	}
	return links, err
}

// enlistBatch adds the links of batch that take part to links. silent: a candidate did
// not answer.
func (f *File) enlistBatch(o op, links []*link, batch []string) (_ []*link, silent bool, _ error) {
	asked := make([]*link, 0, len(batch))
	for _, name := range batch {
		l, err := f.newLink(name)
		if err != nil {
			f.drop(asked...)
			return links, silent, err
		}
		asked = append(asked, l)
	}
	answers := f.ask(o, asked).Wait(len(asked))
	errs := make([]error, len(asked))
	for i := range host.InAnyOrder(f.h, batch) {
		l := asked[i]
		if errs[i] = accept(l, &answers[i], o, f.entry.size); errs[i] != nil {
			f.h.Logf("peer %s did not accept file %q: %v", l.Peer, f.name, errs[i])
			f.drop(l)
		}
	}
	for i, l := range asked {
		if errs[i] == nil {
			links = append(links, l)
			continue
		}
		f.rejected = errs[i]
		silent = silent || errors.Is(errs[i], host.ErrTimeout)
	}
	return links, silent, nil
}

// abandon undoes a failed creation, as far as it can.
func (f *File) abandon() {
	f.note(f.held.Delete())
}

// with returns the entry with links as the file's peers.
func (e entry) with(links []*link) entry {
	e.peers, e.joining, e.copying = linkNames(links), nil, false
	return e
}

func linkNames(links []*link) []string {
	var out []string
	for _, l := range links {
		out = append(out, l.Peer)
	}
	return out
}

// tooFew returns the error for too few candidates, with the reason why the last one did not
// qualify.
func (f *File) tooFew(have, need int) error {
	err := fmt.Errorf("%w: %w: %d of %d", ErrUnavailable, ErrTooFew, have, need)
	if f.rejected != nil {
		err = fmt.Errorf("%w; the last reason: %w", err, f.rejected)
	}
	return err
}
