package etcd

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// ErrConfig: a configuration exceeds the limits, or a file that it names is unusable.
var ErrConfig = errors.New("etcd: bad configuration")

// Defaults of Config.
const (
	DefaultPrefix = "verbatim/"
	// DefaultTTL lets a session outlive one hanging member of the cluster: the client
	// notices after about 11 s, because etcd rejects faster pings.
	DefaultTTL         = 15 * time.Second
	DefaultCallTimeout = time.Second
)

// Config identifies the etcd cluster and the client.
type Config struct {
	// Endpoints are the members of the cluster: HOST:PORT, or the same behind
	// http:// or https://.
	Endpoints []string
	// Name is the name of the host. A session belongs to the name that opened it, so
	// no two hosts may share a name.
	Name string
	// Prefix precedes all keys, and ends with a slash. Clients with different prefixes
	// do not see each other's keys. Default [DefaultPrefix].
	Prefix string
	// TTL is how long a session outlives its process, in whole seconds. A server may
	// extend it: by default its minimum is 2 s. Default [DefaultTTL].
	TTL time.Duration
	// CallTimeout bounds every call. Default [DefaultCallTimeout].
	CallTimeout time.Duration
	// CAFile holds the authorities for the servers' certificates (PEM); CertFile and
	// KeyFile are this client's own. Any of them enables TLS, and so does https://,
	// then with the machine's own authorities.
	CAFile, CertFile, KeyFile string
	// User and Password are for a cluster that requires them.
	User, Password string
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *Config) Validate() error {
	switch {
	case c.Name == "":
		return bad("the host has no name: sessions belong to a name")
	case c.Prefix != "" && !strings.HasSuffix(c.Prefix, "/"):
		return bad("the prefix %q does not end with a slash", c.Prefix)
	case c.TTL < 0 || c.TTL%time.Second != 0:
		return bad("a session of %v: want whole seconds, at least one", c.TTL)
	case c.CallTimeout < 0:
		return bad("the call timeout %v is negative", c.CallTimeout)
	case (c.CertFile == "") != (c.KeyFile == ""):
		return bad("a certificate and its private key belong together: give both files or none")
	case (c.User == "") != (c.Password == ""):
		return bad("user and password belong together: give both or none")
	case len(c.Endpoints) == 0:
		return bad("no endpoint: name at least one member of the cluster, such as 10.0.0.9:2379")
	}
	for _, e := range c.Endpoints {
		if err := c.validateEndpoint(e); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) validateEndpoint(e string) error {
	scheme, addr := cutScheme(e)
	first, _ := cutScheme(c.Endpoints[0])
	host, port, err := net.SplitHostPort(addr)
	n, portErr := strconv.Atoi(port)
	switch {
	case scheme != "" && scheme != "http" && scheme != "https":
		return bad("endpoint %q: want the scheme http:// or https://, or none", e)
	case err != nil || host == "" || portErr != nil || n < 1 || n > 65535:
		return bad("endpoint %q: want HOST:PORT, such as 10.0.0.9:2379", e)
	case scheme != first:
		// All endpoints share one connection; the client would use the first one's
		// scheme.
		return bad("endpoint %q: its scheme differs from that of %q; want the same for all", e, c.Endpoints[0])
	case scheme == "http" && c.tlsFiles():
		return bad("endpoint %q: certificates need https://, not http://", e)
	}
	return nil
}

func cutScheme(endpoint string) (scheme, addr string) {
	if scheme, addr, ok := strings.Cut(endpoint, "://"); ok {
		return scheme, addr
	}
	return "", endpoint
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrConfig, fmt.Sprintf(format, args...))
}

// complete returns c with its defaults filled in, if it is valid.
func (c Config) complete() (Config, error) {
	if err := c.Validate(); err != nil {
		return c, err
	}
	c.Prefix = cmp.Or(c.Prefix, DefaultPrefix)
	c.TTL = cmp.Or(c.TTL, DefaultTTL)
	c.CallTimeout = cmp.Or(c.CallTimeout, DefaultCallTimeout)
	return c, nil
}

func (c *Config) tlsFiles() bool { return c.CAFile != "" || c.CertFile != "" }

// tls reads the files, and returns the configuration, or nil for connections without TLS.
func (c *Config) tls() (*tls.Config, error) {
	if scheme, _ := cutScheme(c.Endpoints[0]); scheme != "https" && !c.tlsFiles() {
		return nil, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("%w: certificate %s, key %s: %w", ErrConfig, c.CertFile, c.KeyFile, err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("%w: authorities: %w", ErrConfig, err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, bad("authorities %s: no PEM certificate in the file", c.CAFile)
		}
	}
	return t, nil
}
