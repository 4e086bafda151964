package resp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// command is a request of a client.
type command struct {
	least, most int // arguments after the name; most is -1 if there is no limit
	do          func(s *session, args [][]byte)
}

// commands by name.
var commands = map[string]command{
	"GET":    {1, 1, (*session).get},
	"SET":    {2, -1, (*session).set},
	"DEL":    {1, -1, (*session).del},
	"UNLINK": {1, -1, (*session).del},
	"EXISTS": {1, -1, (*session).exists},
	"PING":   {0, 1, (*session).ping},
	"ECHO":   {1, 1, func(s *session, args [][]byte) { s.bulk(args[0]) }},
	"SELECT": {1, 1, (*session).choose},
	"QUIT":   {0, 0, func(s *session, _ [][]byte) { s.simple("OK"); s.quit = true }},
	// Commands that clients send when they connect.
	"HELLO":   {0, -1, (*session).hello},
	"CLIENT":  {1, -1, (*session).client},
	"COMMAND": {0, -1, (*session).command},
	"CONFIG":  {1, -1, (*session).config},
	"INFO":    {0, -1, (*session).info},
}

// do carries out a command.
func (s *session) do(args [][]byte) {
	name := strings.ToUpper(string(args[0]))
	c, ok := commands[name]
	args = args[1:]
	switch {
	case !ok:
		s.failed("ERR", fmt.Sprintf("unknown command %.40q: this store has GET, SET, DEL, UNLINK, EXISTS, PING and ECHO", name))
	case len(args) < c.least || c.most >= 0 && len(args) > c.most:
		s.failed("ERR", fmt.Sprintf("wrong number of arguments for '%s' command", strings.ToLower(name)))
	default:
		c.do(s, args)
	}
}

// codes are the first words of errors of a store.
var codes = []struct {
	err        error
	code, text string
}{
	{kv.ErrNotLeading, "NOTLEADING", "this node does not lead, and nothing was carried out: ask another node"},
	{kv.ErrUnknown, "UNKNOWN", "the operation may have been carried out, or may be until another change is acknowledged"},
	{kv.ErrTooLong, "TOOLONG", ""},
	{kv.ErrFull, "FULL", ""},
}

// refused replies with the error of a store, if there is one.
func (s *session) refused(err error) bool {
	if err == nil {
		return false
	}
	for _, x := range codes {
		if errors.Is(err, x.err) {
			text := x.text
			if text == "" {
				text = err.Error()
			}
			s.failed(x.code, text)
			return true
		}
	}
	s.failed("ERR", err.Error())
	return true
}

// store returns the store, or replies that there is none.
func (s *session) store() (Store, bool) {
	st := s.cfg.Store()
	if st == nil {
		s.refused(kv.ErrNotLeading)
	}
	return st, st != nil
}

func (s *session) get(args [][]byte) {
	st, ok := s.store()
	if !ok {
		return
	}
	value, found, err := st.Get(args[0], nil)
	switch {
	case s.refused(err):
	case found:
		s.bulk(value)
	default:
		s.nothing()
	}
}

func (s *session) set(args [][]byte) {
	if len(args) > 2 {
		s.failed("ERR", fmt.Sprintf("syntax error: this store has no option %.40q of SET", args[2]))
		return
	}
	if st, ok := s.store(); ok && !s.refused(st.Put(args[0], args[1])) {
		s.simple("OK")
	}
}

// del removes keys, and counts those that existed. It stops at the first error.
func (s *session) del(args [][]byte) {
	s.count(args, func(st Store, key []byte) error { return st.Delete(key) })
}

func (s *session) exists(args [][]byte) { s.count(args, func(Store, []byte) error { return nil }) }

// count calls do for each existing key, and replies with their number.
func (s *session) count(keys [][]byte, do func(st Store, key []byte) error) {
	st, ok := s.store()
	if !ok {
		return
	}
	n := 0
	for _, key := range keys {
		_, found, err := st.Get(key, nil)
		if err == nil && found {
			n++
			err = do(st, key)
		}
		if s.refused(err) {
			return
		}
	}
	s.number(n)
}

func (s *session) ping(args [][]byte) {
	if len(args) == 0 {
		s.simple("PONG")
	} else {
		s.bulk(args[0])
	}
}

func (s *session) choose(args [][]byte) {
	if string(args[0]) == "0" {
		s.simple("OK")
	} else {
		s.failed("ERR", "DB index is out of range: the only index is 0")
	}
}

// hello selects the protocol version and describes the server.
func (s *session) hello(args [][]byte) {
	three := s.three
	if len(args) > 0 {
		switch v := string(args[0]); {
		case v != "2" && v != "3":
			s.failed("NOPROTO", "unsupported protocol version")
			return
		case len(args) > 1 && !strings.EqualFold(string(args[1]), "SETNAME"):
			s.failed("ERR", fmt.Sprintf("syntax error: this store has no option %.40q of HELLO, and no passwords", args[1]))
			return
		default:
			three = v == "3"
		}
	}
	s.three = three
	version := 2
	if three {
		version = 3
	}
	s.pairs(5)
	s.text("server")
	s.text("verbatim")
	s.text("version")
	s.text("7.0.0") // the version of Redis with these commands; clients compare it
	s.text("proto")
	s.number(version)
	s.text("mode")
	s.text("standalone")
	s.text("role")
	s.text("master")
}

func (s *session) client(args [][]byte) {
	switch sub := strings.ToUpper(string(args[0])); sub {
	case "SETNAME", "SETINFO", "NO-EVICT", "NO-TOUCH":
		s.simple("OK")
	case "GETNAME":
		s.nothing()
	default:
		s.failed("ERR", fmt.Sprintf("this store has no CLIENT %.40q", sub))
	}
}

// command answers COMMAND with an empty list, which clients accept.
func (s *session) command(args [][]byte) {
	switch {
	case len(args) == 0:
		s.array(0)
	case strings.EqualFold(string(args[0]), "DOCS"):
		s.pairs(0)
	default:
		s.failed("ERR", fmt.Sprintf("this store has no COMMAND %.40q", args[0]))
	}
}

// settings are the settings that redis-benchmark reads: the persistence of a Redis. They cannot be changed.
var settings = map[string]string{"save": "", "appendonly": "no"}

// config answers CONFIG GET.
func (s *session) config(args [][]byte) {
	if !strings.EqualFold(string(args[0]), "GET") {
		s.failed("ERR", "this store has only CONFIG GET, and no settings")
		return
	}
	var known []string
	for _, a := range args[1:] {
		name := strings.ToLower(string(a))
		if _, ok := settings[name]; ok && !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	s.pairs(len(known))
	for _, name := range known {
		s.text(name)
		s.text(settings[name])
	}
}

func (s *session) info([][]byte) {
	s.text("# Server\r\nredis_version:7.0.0\r\nserver_name:verbatim\r\nredis_mode:standalone\r\n# Replication\r\nsift:" + s.cfg.Role() + "\r\n")
}
