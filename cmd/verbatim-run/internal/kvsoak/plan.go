package kvsoak

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// act is the part of a round with the faults: [soak.heal] repairs them.
type act struct {
	name string
	do   func(s *soak, ctx context.Context, v victims) error
	cuts bool // it cuts links
}

// victims are drawn for each round, whether they are needed or not.
type victims struct {
	leader string   // leads when the round begins
	memory []string // all memory nodes, in a random order
	pauses [3]time.Duration
}

// draw draws victims.
func draw(r *rand.Rand, leader string) victims {
	v := victims{leader: leader, memory: slices.Clone(memories)}
	r.Shuffle(len(v.memory), func(i, j int) { v.memory[i], v.memory[j] = v.memory[j], v.memory[i] })
	for i := range v.pauses {
		v.pauses[i] = time.Duration(r.IntN(200)) * time.Millisecond
	}
	return v
}

// acts are the possible acts. A second memory node never loses its memory before the first has joined again.
var acts = []act{
	{name: "the leader dies", do: func(s *soak, _ context.Context, v victims) error { return s.kill(v.leader) }},
	{name: "a memory node dies", do: func(s *soak, ctx context.Context, v victims) error { return s.lose(ctx, v.memory[0]) }},
	{name: "leader and memory node die at once", do: func(s *soak, _ context.Context, v victims) error { return s.kill(v.memory[0], v.leader) }},
	{name: "the leader dies while a memory node rejoins", do: func(s *soak, ctx context.Context, v victims) error {
		return s.all(ctx, func() error { return s.lose(ctx, v.memory[0]) }, func() error { return s.comeBack(ctx, v.memory[0]) },
			func() error { return s.pause(ctx, v.pauses[0]) }, func() error { return s.kill(v.leader) })
	}},
	{name: "a memory node dies while it rejoins", do: func(s *soak, ctx context.Context, v victims) error {
		return s.all(ctx, func() error { return s.lose(ctx, v.memory[0]) }, func() error { return s.comeBack(ctx, v.memory[0]) },
			func() error { return s.pause(ctx, v.pauses[0]/4) }, func() error { return s.kill(v.memory[0]) })
	}},
	{name: "the leader is stopped until it is replaced", do: func(s *soak, ctx context.Context, v victims) error {
		return s.all(ctx, func() error { return s.replace(ctx, v.leader) }, func() error { return s.pause(ctx, v.pauses[0]) }, func() error { return s.resume(v.leader) },
			func() error { return s.pause(ctx, v.pauses[1]) })
	}},
	{name: "the leader is stopped, and a memory node dies under the next leader", do: func(s *soak, ctx context.Context, v victims) error {
		return s.all(ctx, func() error { return s.replace(ctx, v.leader) }, func() error { return s.lose(ctx, v.memory[0]) }, func() error { return s.resume(v.leader) },
			func() error { return s.pause(ctx, v.pauses[1]) })
	}},
	{name: "memory nodes are stopped", do: func(s *soak, ctx context.Context, v victims) error {
		return s.all(ctx, func() error { return s.halt(v.memory[0]) }, func() error { return s.pause(ctx, v.pauses[0]) }, func() error { return s.halt(v.memory[1]) },
			func() error { return s.pause(ctx, v.pauses[1]) })
	}},
	{name: "the leader is cut off from a memory node", cuts: true, do: func(s *soak, ctx context.Context, v victims) error {
		return s.all(ctx, func() error { return s.cut(v.leader, v.memory[0]) }, func() error { return s.pause(ctx, 2*v.pauses[0]) })
	}},
	{name: "the leader is cut off from two memory nodes, and dies with the third", cuts: true, do: func(s *soak, ctx context.Context, v victims) error {
		return s.all(ctx, func() error { return s.cut(v.leader, v.memory[0]) }, func() error { return s.cut(v.leader, v.memory[1]) },
			func() error { return s.pause(ctx, v.pauses[0]) }, func() error { return s.kill(v.leader, v.memory[2]) })
	}},
	{name: "the next leaders are cut off from the memory nodes that have the last puts", cuts: true, do: (*soak).forget},
	{name: "the leader is cut off from a memory node, and another one dies with it", cuts: true, do: func(s *soak, ctx context.Context, v victims) error {
		return s.all(ctx, func() error { return s.cut(v.leader, v.memory[0]) }, func() error { return s.pause(ctx, v.pauses[0]) },
			func() error { return s.kill(v.leader, v.memory[1]) })
	}},
}

// forget leaves the next leaders with a memory node that was cut off before, and one that has lost its memory: the
// leaders must not serve before they reach the third.
func (s *soak) forget(ctx context.Context, v victims) error {
	behind, dies, knows := v.memory[0], v.memory[1], v.memory[2]
	steps := []func() error{func() error { return s.cut(v.leader, behind) }, func() error { return s.pause(ctx, v.pauses[0]+100*time.Millisecond) }}
	for _, cpu := range cpus {
		if cpu != v.leader {
			steps = append(steps, func() error { return s.cut(cpu, knows) })
		}
	}
	return s.all(ctx, append(steps, func() error { return s.kill(v.leader, dies) }, func() error { return s.comeBack(ctx, dies) },
		func() error { return s.pause(ctx, v.pauses[1]+300*time.Millisecond) })...)
}

// all executes steps one after the other.
func (s *soak) all(ctx context.Context, steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// pause lets the clients work for a time.
func (s *soak) pause(ctx context.Context, d time.Duration) error { return pause(ctx, d) }

// kill kills nodes at the same moment.
func (s *soak) kill(names ...string) error {
	for _, name := range names { // kill all before waiting for any
		if err := s.g.strike(name); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := s.g.bury(name); err != nil {
			return err
		}
		if slices.Contains(memories, name) {
			s.r.Memory++
		} else {
			s.r.CPUs++
		}
	}
	return nil
}

// lose kills a memory node, and waits until a leader reports it as failed.
func (s *soak) lose(ctx context.Context, name string) error {
	if err := s.kill(name); err != nil {
		return err
	}
	return s.g.until(ctx, "a leader that knows that "+name+" is dead", func() bool { return slices.Contains(s.g.view.failed, name) })
}

// comeBack restarts a memory node that was killed.
func (s *soak) comeBack(ctx context.Context, name string) error {
	s.back = name
	return s.g.start(ctx, name)
}

// halt suspends a process.
func (s *soak) halt(name string) error {
	s.halted = append(s.halted, name)
	s.r.Stops++
	return s.g.stop(name, true)
}

// resume lets a process continue.
func (s *soak) resume(name string) error {
	s.halted = slices.DeleteFunc(s.halted, func(h string) bool { return h == name })
	return s.g.stop(name, false)
}

// replace stops the leader until another one serves.
func (s *soak) replace(ctx context.Context, leader string) error {
	if err := s.halt(leader); err != nil {
		return err
	}
	return s.g.until(ctx, "another leader", func() bool { return s.g.view.by != leader && s.g.view.serves })
}

// cut cuts a link.
func (s *soak) cut(cpu, memory string) error {
	s.severed = append(s.severed, [2]string{cpu, memory})
	s.r.Cuts++
	return s.g.cut(cpu, memory, true)
}

// heal repairs everything, and waits until all memory nodes have joined.
func (s *soak) heal(ctx context.Context) error {
	for _, name := range slices.Clone(s.halted) {
		if err := s.resume(name); err != nil {
			return err
		}
	}
	for _, l := range s.severed {
		if s.g.nodes[l[0]].killed { // a new process has no cuts
			continue
		}
		if err := s.g.cut(l[0], l[1], false); err != nil {
			return err
		}
	}
	s.severed = nil
	for _, name := range cpus {
		if s.g.nodes[name].killed {
			if err := s.g.start(ctx, name); err != nil {
				return err
			}
		}
	}
	for _, name := range memories {
		if s.g.nodes[name].killed {
			if err := s.g.start(ctx, name); err != nil {
				return err
			}
			s.back = name
		}
	}
	if s.back != "" {
		if err := s.g.joined(ctx, s.host, s.back); err != nil {
			return err
		}
		s.back = ""
	}
	return s.g.until(ctx, "all memory nodes", s.g.whole)
}
