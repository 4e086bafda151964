//go:build !linux

package bench

import (
	"context"
	"errors"
)

// Built reports whether this program can open cards.
const Built = false

var errLinux = errors.New("bench: cards can be used on Linux only; the simulator runs everywhere (--backend sim)")

// Devices returns the names of the cards of this machine.
func Devices() []string { return nil }

func verbsOnCards(context.Context, Config, func(Row) error) error { return errLinux }

func nclOnCards(context.Context, Config, func(Row) error) error { return errLinux }

func withNCLOnCards(context.Context, Config, func(NCLApp) error) error { return errLinux }

// RunPeer needs Linux.
func RunPeer(context.Context, PeerConfig) error { return errLinux }
