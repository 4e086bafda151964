package coordtest

import (
	"errors"
	"strings"

	"github.com/verbatim-rdma/verbatim/coord"
)

func sessions(s *suite) {
	s.want("check of no session", s.CheckSession(coord.NoSession), coord.ErrSessionExpired)
	s.want("close of no session", s.CloseSession(coord.NoSession), coord.ErrSessionExpired)
	one, two := s.session(), s.session()
	if one == two {
		s.Fatalf("two sessions are both called %d", one)
	}
	s.want("check", s.CheckSession(one), nil)
	s.want("close", s.CloseSession(one), nil)
	s.want("check after close", s.CheckSession(one), coord.ErrSessionExpired)
	s.want("second close", s.CloseSession(one), coord.ErrSessionExpired)
	s.want("check of the other", s.CheckSession(two), nil)
	if three := s.session(); three == one {
		s.Fatalf("session %d was given out twice", one)
	}
}

func ephemeralKeys(s *suite) {
	one, two := s.session(), s.session()
	s.create("a", "one", one)
	s.create("b", "stays", coord.NoSession)
	s.create("c", "two", two)
	s.create("d", "one", one)
	s.lists("", "a", "b", "c", "d")
	s.want("close", s.CloseSession(one), nil)
	s.lists("", "b", "c")
	s.hasNot("a")
	s.has("b", "stays", 1)
	s.has("c", "two", 1)
	s.want("create in a closed session", s.Create("a", nil, one), coord.ErrSessionExpired)
	s.create("a", "two", two)
	s.has("a", "two", 1)
	s.want("close", s.CloseSession(two), nil)
	s.lists("", "b")
}

func ephemeralSetAndDelete(s *suite) {
	session := s.session()
	s.create("set", "1", session)
	s.create("recreated", "1", session)
	s.set("set", "2", 1, 2)
	s.want("delete", s.Delete("recreated", 1), nil)
	s.create("recreated", "2", coord.NoSession)
	s.want("close", s.CloseSession(session), nil)
	s.hasNot("set") // Set did not take it out of the session
	s.has("recreated", "2", 1)
}

func sessionFirst(s *suite) {
	session := s.session()
	s.want("close", s.CloseSession(session), nil)
	s.create("a", "", coord.NoSession)
	s.want("create", s.Create("a", nil, session), coord.ErrSessionExpired)
}

func errorsNameTheKey(s *suite) {
	_, _, err := s.Get("some/key")
	var e *coord.Error
	if !errors.As(err, &e) || e.Key != "some/key" || e.Op != "get" {
		s.Fatalf("the error of a get of some/key is %#v", err)
	}
	if !strings.Contains(err.Error(), `get "some/key"`) {
		s.Fatalf("the error %q does not name operation and key", err)
	}
	session := s.session()
	s.want("close", s.CloseSession(session), nil)
	err = s.Create("k", nil, session)
	if !errors.As(err, &e) || e.Key != "k" || e.Session != session {
		s.Fatalf("the error of a create in session %d is %#v", session, err)
	}
}

// A session belongs to its host: others that know its number cannot use it. Its keys
// are everybody's.
func othersSession(s *suite) {
	b := s.on("b")
	session := s.session()
	s.create("k", "1", session)
	b.want("check", b.CheckSession(session), coord.ErrSessionExpired)
	b.want("close", b.CloseSession(session), coord.ErrSessionExpired)
	b.want("create", b.Create("new", nil, session), coord.ErrSessionExpired)
	b.want("create existing", b.Create("k", nil, session), coord.ErrSessionExpired)
	b.hasNot("new")
	s.want("check", s.CheckSession(session), nil)
	b.set("k", "2", 1, 2)
	b.has("k", "2", 2)

	// A second client of the same host is the same host.
	again := s.on("a")
	again.want("check", again.CheckSession(session), nil)
	again.create("more", "1", session)
	again.want("close", again.CloseSession(session), nil)
	s.want("check", s.CheckSession(session), coord.ErrSessionExpired)
	b.lists("")
}
