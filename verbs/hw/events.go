//go:build rdma

package hw

/*
#include "binding.h"
*/
import "C"

import (
	"fmt"
	"os"
	"syscall"
)

// descriptor is a file descriptor of libibverbs that the Go runtime waits for.
type descriptor struct {
	file *os.File
	raw  syscall.RawConn
	done chan struct{}
}

// watch calls drain on its own goroutine whenever fd is readable, until it is closed or
// drain returns false. libibverbs keeps fd; the runtime waits for a duplicate, because
// each closes its own.
func watch(name string, fd C.int, drain func() bool) (*descriptor, error) {
	if rc := C.vb_nonblock(fd); rc != 0 {
		return nil, callError(name, "make a channel non-blocking", syscall.Errno(rc), "")
	}
	dup, err := syscall.Dup(int(fd))
	if err != nil {
		return nil, callError(name, "duplicate a channel", errnoOf(err), "is the limit on open files reached?")
	}
	syscall.CloseOnExec(dup)
	d := &descriptor{file: os.NewFile(uintptr(dup), name), done: make(chan struct{})}
	if d.raw, err = d.file.SyscallConn(); err != nil {
		d.file.Close()
		return nil, fmt.Errorf("hw: %s: wait on a channel: %w", name, err)
	}
	go func() {
		defer close(d.done)
		_ = d.raw.Read(func(uintptr) bool { return !drain() }) // fails once the descriptor is closed
	}()
	return d, nil
}

// close returns once drain will not be called again.
func (d *descriptor) close() {
	d.file.Close()
	<-d.done
}

// listen handles the device's asynchronous events.
func (d *device) listen() (err error) {
	d.events, err = watch(d.name, d.ctx.async_fd, func() bool {
		for {
			var e C.struct_vb_event
			switch rc := syscall.Errno(C.vb_async(d.ctx, &e)); rc {
			case 0:
				d.happened(Event{About: Object(e.about), Number: uint32(e.number), Text: C.GoString(C.ibv_event_type_str(uint32(e.kind))),
					Fatal: e.kind == C.IBV_EVENT_DEVICE_FATAL}, ownError(e.kind))
			case syscall.EAGAIN, syscall.EINTR:
				return true
			default:
				d.happened(Event{Text: "no more events: " + rc.Error(), Fatal: true}, false)
				return false
			}
		}
	})
	return err
}

// ownError reports whether an event means that its object has failed.
func ownError(kind C.int) bool {
	switch kind {
	case C.IBV_EVENT_QP_FATAL, C.IBV_EVENT_QP_REQ_ERR, C.IBV_EVENT_QP_ACCESS_ERR, C.IBV_EVENT_CQ_ERR:
		return true
	}
	return false
}

// happened reports an event to the object that has failed, and to the program. After a
// fatal event the device is dead, and all waiters are woken.
func (d *device) happened(e Event, failed bool) {
	e.Device = d.name
	d.mu.Lock()
	switch {
	case e.Fatal:
		d.dead.Store(&e.Text)
		for _, ch := range d.channels {
			ch.wakeAll()
		}
	case failed && e.About == AboutQP:
		if q := d.qps[e.Number]; q != nil {
			q.failed.Store(&e.Text)
		}
	case failed && e.About == AboutCQ:
		for _, ch := range d.channels {
			ch.fail(e.Number, &e.Text)
		}
	}
	d.mu.Unlock()
	if d.cfg.OnEvent != nil {
		d.cfg.OnEvent(e)
	}
}
