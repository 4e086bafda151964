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
// drain returns false. libibverbs keeps fd; the runtime waits on a duplicate, because
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
		_ = d.raw.Read(func(uintptr) bool { return !drain() }) // it fails once it is closed
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
				d.happened(e.kind == C.IBV_EVENT_DEVICE_FATAL, about(&e)+C.GoString(C.ibv_event_type_str(uint32(e.kind))))
			case syscall.EAGAIN, syscall.EINTR:
				return true
			default:
				d.happened(true, "no more events: "+rc.Error())
				return false
			}
		}
	})
	return err
}

// about names the object of an event; the device needs no name.
func about(e *C.struct_vb_event) string {
	switch e.about {
	case C.VB_ABOUT_QP:
		return fmt.Sprintf("QP %d: ", e.number)
	case C.VB_ABOUT_CQ:
		return fmt.Sprintf("CQ %d: ", e.number)
	case C.VB_ABOUT_PORT:
		return fmt.Sprintf("port %d: ", e.number)
	}
	return ""
}

// happened passes an event on. After a fatal one the device is dead, and nobody must
// wait for it any longer.
func (d *device) happened(fatal bool, text string) {
	if fatal {
		d.dead.Store(&text)
		d.mu.Lock()
		for _, ch := range d.channels {
			ch.wakeAll()
		}
		d.mu.Unlock()
	}
	if d.cfg.OnEvent != nil {
		d.cfg.OnEvent(d.name + ": " + text)
	}
}
