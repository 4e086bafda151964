package raftr

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
)

// logger writes the messages of the library to the host's log, except for the debug messages. Fatal errors
// are panics, as in the library's other paths; Node.protect catches both.
type logger struct{ h host.Host }

func (logger) Debug(...any)              {}
func (logger) Debugf(string, ...any)     {}
func (logger) Info(...any)               {}
func (logger) Infof(string, ...any)      {}
func (l logger) Warning(v ...any)        { l.h.Logf("raft: %s", fmt.Sprint(v...)) }
func (l logger) Error(v ...any)          { l.h.Logf("raft: %s", fmt.Sprint(v...)) }
func (logger) Fatal(v ...any)            { panic(fmt.Sprint(v...)) }
func (logger) Fatalf(s string, v ...any) { panic(fmt.Sprintf(s, v...)) }
func (logger) Panic(v ...any)            { panic(fmt.Sprint(v...)) }
func (logger) Panicf(s string, v ...any) { panic(fmt.Sprintf(s, v...)) }

func (l logger) Warningf(s string, v ...any) { l.h.Logf("raft: "+s, v...) }
func (l logger) Errorf(s string, v ...any)   { l.h.Logf("raft: "+s, v...) }
