package memdir

import (
	"maps"
	"slices"
)

// Clone returns a copy of d without open files.
func (d *Dir) Clone() *Dir {
	copies := map[*inode]*inode{}
	inodeOf := func(i *inode) *inode {
		if i == nil {
			return nil
		}
		x := copies[i]
		if x == nil {
			x = &inode{data: slices.Clone(i.data), synced: slices.Clone(i.synced), log: slices.Clone(i.log), mode: i.mode}
			copies[i] = x
		}
		return x
	}
	namesOf := func(n names) names {
		n = maps.Clone(n)
		for name, i := range n { //lint:ordered each is replaced
			n[name] = inodeOf(i)
		}
		return n
	}
	x := &Dir{Step: d.Step, Limit: d.Limit, names: namesOf(d.names), durable: namesOf(d.durable), life: d.life}
	for _, r := range d.pending {
		r.inode = inodeOf(r.inode)
		x.pending = append(x.pending, r)
	}
	return x
}
