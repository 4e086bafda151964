package sim

// pool provides objects of one type and releases all of them together at the beginning
// of a run. So a world that runs a million times allocates its objects once.
type pool[T any] struct {
	all  []*T
	used int
}

// get returns an object as the last run left it; the caller overwrites it.
func (p *pool[T]) get() *T {
	if p.used == len(p.all) {
		chunk := make([]T, 16)
		for i := range chunk {
			p.all = append(p.all, &chunk[i])
		}
	}
	p.used++
	return p.all[p.used-1]
}

func (p *pool[T]) reset() { p.used = 0 }

// pools are the pools of a world.
type pools struct {
	elems   pool[elem]
	qps     pool[qp]
	regions pool[region]
	banks   pool[bank]
	hosts   pool[Host]
	cards   pool[card]
	cqs     pool[cq]
	mrs     pool[mr]
	reqs    pool[request]
}

func (p *pools) reset() {
	p.elems.reset()
	p.qps.reset()
	p.regions.reset()
	p.banks.reset()
	p.hosts.reset()
	p.cards.reset()
	p.cqs.reset()
	p.mrs.reset()
	p.reqs.reset()
}

// bytes returns n bytes that live until the end of the run.
func (w *World) bytes(n int) []byte {
	if len(w.arena)+n > cap(w.arena) {
		w.arena = make([]byte, 0, max(2*cap(w.arena), n, 1<<14))
	}
	at := len(w.arena)
	w.arena = w.arena[:at+n]
	return w.arena[at : at+n : at+n]
}
