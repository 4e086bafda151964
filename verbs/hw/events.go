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

// watch calls drain on its own goroutine whenever fd is readable, until it is closed.
// libibverbs keeps fd; the runtime waits on a duplicate, because each closes its own.
func watch(name string, fd C.int, drain func()) (*descriptor, error) {
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
		for d.raw.Read(func(uintptr) bool { drain(); return false }) == nil {
		}
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
	d.events, err = watch(d.name, d.ctx.async_fd, func() {
		for {
			kind := C.vb_async(d.ctx)
			if kind < 0 {
				return
			}
			text := C.GoString(C.ibv_event_type_str(uint32(kind)))
			if kind == C.IBV_EVENT_DEVICE_FATAL {
				d.dead.Store(&text)
			}
			if d.cfg.OnEvent != nil {
				d.cfg.OnEvent(d.name + ": " + text)
			}
		}
	})
	return err
}
