package ncl

import (
	"fmt"
	"slices"
)

// Repair replaces failed peers by others (4.5.2, "Maintaining FT Level", and after a
// revocation). Call it when [File.Alive] has dropped below 2f+1, or when [File.Record]
// returns [ErrUnavailable]. The local buffer has the whole content, so Repair works
// however many peers have failed.
//
// When it returns nil there are 2f+1 peers again, and f+1 of them hold every write so
// far, including writes whose Record failed. With [ErrTooFew] it has replaced some peers
// or none. If more than f peers are then missing, the error also wraps [ErrUnavailable],
// and nothing can be written until a Repair succeeds. [ErrStale] means that another
// instance has recovered the file: this handle is useless.
func (f *File) Repair() error {
	if f.closed {
		return fmt.Errorf("%w: file %q", ErrClosed, f.name)
	}
	missing := f.size() - f.alive()
	if missing == 0 {
		return f.awaitQuorum()
	}
	if err := f.replace(missing); err != nil {
		return fmt.Errorf("ncl: repair %q: %w", f.name, err)
	}
	return nil
}

func (f *File) replace(missing int) error {
	e := f.entry
	if e.epoch == MaxEpoch {
		return fmt.Errorf("%w: epoch %d", ErrExhausted, e.epoch)
	}
	e.epoch++
	e.copying = false
	links, err := f.enlist(e, opJoin, missing)
	if err != nil {
		f.drop(links...)
		return err
	}
	links = f.bringUpToDate(links)
	if err := f.admit(links); err != nil {
		f.drop(links...)
		return err
	}
	switch {
	case f.alive() < f.quorum():
		return fmt.Errorf("%w; %w", f.unavailable(), f.tooFew(len(links), missing))
	case len(links) < missing:
		return fmt.Errorf("%w: %d of %d", ErrTooFew, len(links), missing)
	}
	return f.awaitQuorum()
}

// bringUpToDate copies the local buffer to new peers. It makes the peers that have the
// copy enter it into their mr-maps, and returns these peers. Until then their regions must
// not answer a recovery: see finding 6.
func (f *File) bringUpToDate(links []*link) []*link {
	f.copyTo(links)
	links = f.dropFailed(links)
	f.switchTo(links)
	return f.dropFailed(links)
}

// admit enters the new peers into the ap-map in place of failed ones. The new peers must
// be up to date: the paper shows the consequence otherwise (figure 7iii).
func (f *File) admit(links []*link) error {
	all := slices.Clone(f.links)
	var out []*link
	for _, l := range links {
		i := slices.IndexFunc(all, func(x *link) bool { return x.Peer == l.Peer }) // a failed peer that is back
		if i < 0 {
			i = slices.IndexFunc(all, func(x *link) bool { return x.Err != nil && f.replaceable(x, links) })
		}
		out = append(out, all[i])
		all[i] = l
	}
	if err := f.save(f.entry.with(all)); err != nil {
		return err
	}
	f.links = all
	f.drop(out...)
	return nil
}

// replaceable reports whether no link of links is to the peer of x: a peer may replace itself.
func (f *File) replaceable(x *link, links []*link) bool {
	return !slices.ContainsFunc(links, func(l *link) bool { return l.Peer == x.Peer })
}

func (f *File) dropFailed(links []*link) []*link {
	var kept, failed []*link
	for _, l := range links {
		if l.Err != nil {
			f.rejected = l.Err
			failed = append(failed, l)
			continue
		}
		kept = append(kept, l)
	}
	f.drop(failed...)
	return kept
}
