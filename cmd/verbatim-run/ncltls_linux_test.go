package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"path/filepath"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
	"github.com/verbatim-rdma/verbatim/coord"
)

// certificate writes a certificate that has signed itself, for the names, and its key.
func certificate(t *testing.T, names ...string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, DNSNames: names, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	clitest.Write(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	clitest.Write(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})))
	return cert, key
}

// With the three flags the processes communicate over TLS, and refuse processes without TLS.
func TestNCLTLS(t *testing.T) {
	cert, key := certificate(t, "coord", "app")
	_, addr := served(t, "ncl", "coord", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--tls-ca", cert)
	foreign, foreignKey := certificate(t, "coord", "app")
	for _, x := range []struct {
		name  string
		flags hostFlags
		ok    bool
	}{
		{"TLS", hostFlags{name: "app", cert: cert, key: key, ca: cert}, true},
		{"none", hostFlags{name: "app"}, false},
		{"a foreign certificate", hostFlags{name: "app", cert: foreign, key: foreignKey, ca: cert}, false},
		{"a foreign authority", hostFlags{name: "app", cert: cert, key: key, ca: foreign}, false},
		{"another name", hostFlags{name: "other", cert: cert, key: key, ca: cert}, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			h, err := x.flags.open(nil, map[string]string{coordName: addr}, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			_, _, err = coord.NewClient(patient{h, time.Minute}, coordName, coordName).Get("k")
			if want := map[bool]error{true: coord.ErrNotFound, false: coord.ErrUnavailable}[x.ok]; !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
			t.Log(err)
		})
	}
}
