package sim

// sweeping goes through a list of elements that the body of its loop changes:
//
//	for all := sweep(&q.elems); all.next(); {
//		if e := all.e; lands(e) {
//			w.land(e)
//			all.again()
//		}
//	}
//
// An element that lands or is dropped leaves the list and takes others along, anywhere in it. An
// element that was passed over may have to land now, because an element that it waited for has
// landed. So after each change the loop restarts at the first element, and it terminates after a pass
// without a change. The order is part of a run: elements are decided from the first to the last.
type sweeping struct {
	list *[]*elem
	at   int
	e    *elem // the current element
}

func sweep(list *[]*elem) sweeping { return sweeping{list: list, at: -1} }

// next advances to the next element, if there is one.
func (s *sweeping) next() bool {
	s.at++
	if s.at >= len(*s.list) {
		return false
	}
	s.e = (*s.list)[s.at]
	return true
}

// again makes next restart at the first element.
func (s *sweeping) again() { s.at = -1 }
