package siftcheck

import (
	"bytes"
	"strings"

	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// write makes an acknowledged write of a list, one letter for each block from the first.
func (r *run) write(first int, letters string) bool {
	var in model.MemoryWriteAll
	var list []sift.Update
	for i, x := range letters {
		data := bytes.Repeat([]byte(string(x)), block)
		in.List = append(in.List, model.MemoryWrite{Addr: block * (first + i), Data: string(data)})
		list = append(list, sift.Update{Addr: block * (first + i), Data: data})
	}
	r.known.Open, r.known.Pending, r.known.Addr = true, in.List[0].Data, in.List[0].Addr
	err := r.client.Do(in, func() (any, error) { return model.Done{}, r.c.WriteAll(list) })
	if err != nil {
		if r.Look(); r.rivaled() {
			r.Meet(sawFenced)
		}
		return r.tolerates(err)
	}
	if r.Look(); r.rivaled() {
		r.Meet(sawLate)
		return true
	}
	if len(r.c.Live()) < len(r.load.memory()) {
		r.Meet(sawFewer)
	}
	r.known.Open = false
	r.History()
	return true
}

// put makes an acknowledged write of a block while other tasks write too.
func (r *run) put(i int, letter string) bool {
	data := strings.Repeat(letter, block)
	if r.known.Writing++; r.known.Writing > 1 {
		r.Meet(sawTogether)
	}
	r.History()
	joined := r.known.Joined
	err := r.client.Do(model.MemoryWrite{Addr: i * block, Data: data}, func() (any, error) {
		return model.Done{}, r.c.Write(i*block, []byte(data))
	})
	r.known.Writing--
	r.History()
	if !joined && r.known.Joined && err == nil {
		r.Meet(sawWaited)
	}
	return err == nil || r.tolerates(err)
}

// read reads n blocks.
func (r *run) read(first, n int) bool {
	p := make([]byte, n*block)
	err := r.client.Do(model.MemoryRead{Addr: first * block, N: n * block}, func() (any, error) {
		err := r.c.Read(first*block, p)
		return model.MemoryData{Data: string(p)}, err
	})
	if err != nil {
		return r.tolerates(err)
	}
	r.Look()
	if r.rivaled() {
		r.Meet(sawServed)
	}
	return true
}

// beat sends a heartbeat.
func (r *run) beat() bool {
	if err := r.c.Beat(); err != nil {
		return r.tolerates(err)
	}
	return true
}

// readAll reads everything, as the last coordinator.
func (r *run) readAll() bool {
	r.Look()
	open, pending, addr := r.known.Open, r.known.Pending, r.known.Addr
	p := make([]byte, r.load.layout().Size)
	err := r.client.Do(model.MemoryRead{Addr: 0, N: len(p)}, func() (any, error) {
		err := r.c.Read(0, p)
		return model.MemoryData{Data: string(p)}, err
	})
	if err != nil {
		return r.tolerates(err)
	}
	r.lacks()
	if open && string(p[addr:addr+block]) == pending {
		r.Meet(sawUnacked)
	} else if open {
		r.Meet(sawBehind)
	}
	return true
}

// direct makes a direct write of a block.
func (r *run) direct(i int, letter string) bool {
	data := bytes.Repeat([]byte(letter), block)
	if err := r.c.WriteDirect(i*block, data); err != nil {
		return r.tolerates(err)
	}
	r.known.Direct = append(r.known.Direct, string(data))
	r.History()
	return true
}

// directs checks what the nodes have of the direct writes.
func (r *run) directs() bool {
	copies, err := r.c.Copies(0, 2*block)
	if err != nil {
		return r.tolerates(err)
	}
	r.Look()
	for i, want := range r.known.Direct {
		has := 0
		for _, b := range copies {
			if string(b[i*block:(i+1)*block]) == want {
				has++
			}
		}
		if has == 0 {
			r.Failf(Direct, "a majority has acknowledged %q, and none of %d nodes has it", want, len(copies))
		}
	}
	for i := range 2 {
		for _, b := range copies {
			if !bytes.Equal(b[i*block:(i+1)*block], copies[0][i*block:(i+1)*block]) {
				r.Meet(sawHalf)
			}
		}
	}
	return true
}
