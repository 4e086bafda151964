package oshost

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// The protocol. A call is POST /verbatim/SERVICE with the request as the body, and
// these headers:
//
//	Verbatim-Version: 1     of this protocol, in every request and every answer
//	Verbatim-From: app      the caller
//	Verbatim-To: peer1      the intended host, so that a wrong address is detected
//
// The status determines the meaning of the answer's body; see answers.
const (
	version     = "1"
	pathPrefix  = "/verbatim/"
	headVersion = "Verbatim-Version"
	headFrom    = "Verbatim-From"
	headTo      = "Verbatim-To"
)

const (
	maxName   = 100     // bytes of the name of a host, a service or a persistent region
	maxHeader = 8 << 10 // bytes of all headers
	maxReason = 4 << 10 // bytes of the reason of a rejection
)

// Statuses of an answer.
const (
	statusReply     = http.StatusOK                    // the body is the answer
	statusRejected  = http.StatusConflict              // the service rejects; the body is the reason
	statusNoService = http.StatusNotFound              // no listener
	statusBusy      = http.StatusServiceUnavailable    // the queue is full, or the host is closing
	statusVersion   = http.StatusUpgradeRequired       // another version
	statusTooLarge  = http.StatusRequestEntityTooLarge // the request is too long
	statusWrongHost = http.StatusMisdirectedRequest    // the request is for another host
	statusForbidden = http.StatusForbidden             // the certificate is not the caller's
	statusMalformed = http.StatusBadRequest            // anything else
)

// head is the content of a request's headers.
type head struct {
	from, service string
}

// refusal is a request answered with a status and a reason.
type refusal struct {
	status int
	reason string
}

func (r *refusal) Error() string { return r.reason }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// parseHead parses the head of a request to host self. The error is a *refusal.
func parseHead(r *http.Request, self, version string) (head, error) {
	if got := r.Header.Values(headVersion); len(got) != 1 || got[0] != version {
		return head{}, refuse(statusVersion, "this host has version %s of the protocol, the request has %q", version, cut(strings.Join(got, ",")))
	}
	if r.Method != http.MethodPost {
		return head{}, refuse(statusMalformed, "method %q, want POST", cut(r.Method))
	}
	escaped, ok := strings.CutPrefix(r.URL.EscapedPath(), pathPrefix)
	service, err := url.PathUnescape(escaped)
	if !ok || err != nil || !validService(service) || r.URL.RawQuery != "" {
		return head{}, refuse(statusMalformed, "path %q, want %sSERVICE", cut(r.URL.String()), pathPrefix)
	}
	h := head{from: r.Header.Get(headFrom), service: service}
	if !validName(h.from) {
		return head{}, refuse(statusMalformed, "no valid %s", headFrom)
	}
	if to := r.Header.Get(headTo); to != self {
		return head{}, refuse(statusWrongHost, "this is host %s, the request is for %q", self, cut(to))
	}
	if r.TLS != nil {
		if len(r.TLS.PeerCertificates) == 0 || r.TLS.PeerCertificates[0].VerifyHostname(h.from) != nil {
			return head{}, refuse(statusForbidden, "the certificate does not name host %s", h.from)
		}
	}
	return h, nil
}

// setHead writes the head of a request.
func setHead(r *http.Request, from, to, version string) {
	r.Header.Set(headVersion, version)
	r.Header.Set(headFrom, from)
	r.Header.Set(headTo, to)
	r.Header.Set("Content-Type", "application/octet-stream")
}

// validName: letters, digits and -._ need no escaping anywhere.
func validName(s string) bool {
	if len(s) < 1 || len(s) > maxName {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_') {
			return false
		}
	}
	return true
}

// validService: "." and ".." would be cleaned out of a path.
func validService(s string) bool { return len(s) >= 1 && len(s) <= maxName && s != "." && s != ".." }

// cut shortens a peer's text for a message.
func cut(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}

func statusOf(err error) *refusal {
	var r *refusal
	if errors.As(err, &r) {
		return r
	}
	return &refusal{statusMalformed, err.Error()}
}
