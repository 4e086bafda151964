package oshost

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

// authority issues certificates for hosts.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, pool: x509.NewCertPool()}
	a.cert, a.key = a.issue(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	a.pool.AddCert(a.cert)
	return a
}

func (a *authority) issue(c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(1), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// config is the TLS configuration of the host that a certificate names.
func (a *authority) config(name string) *tls.Config {
	cert, key := a.issue(&x509.Certificate{DNSNames: []string{name},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}})
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}, RootCAs: a.pool, ClientCAs: a.pool}
}

func TestTLS(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	b := newHost(t, Config{Name: "b", TLS: ca.config("b")})
	serve(t, b, "s", echo)
	a := newHost(t, Config{Name: "a", TLS: ca.config("a")})
	meet(t, a, b)
	if got, err := a.Call("b", "s", []byte("hi"), patience); string(got) != "a:hi" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for name, cfg := range map[string]Config{
		"no TLS":                         {Name: "a"},
		"an authority nobody knows":      {Name: "a", TLS: other.config("a")},
		"the certificate of another":     {Name: "a", TLS: ca.config("c")},
		"another host under b's address": {Name: "a", TLS: ca.config("a")},
	} {
		t.Run(name, func(t *testing.T) {
			x, to := newHost(t, cfg), "b"
			meet(t, x, b)
			if name == "another host under b's address" {
				to = "d" // b's certificate is not for d
				if err := x.AddPeer("d", b.Addr()); err != nil {
					t.Fatal(err)
				}
			}
			_, err := x.Call(to, "s", nil, patience)
			wantError(t, err, nil, host.ErrUnreachable)
			t.Log(err)
		})
	}
	if _, err := New(Config{Name: "a", TLS: &tls.Config{}}); err == nil {
		t.Error("TLS without certificates")
	}
}
