package view

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"strings"
)

//go:generate go tool esbuild front/viewer.ts front/viewer.css --bundle --minify --target=es2021 --format=iife --charset=utf8 --legal-comments=none --log-level=warning --outdir=dist

//go:embed dist/viewer.js dist/viewer.css
var dist embed.FS

// MaxPage is how large a page may be, in bytes.
const MaxPage = 2 << 20

// ErrTooLarge: a run has so much to show that its page would be larger than MaxPage.
var ErrTooLarge = errors.New("view: the page would be too large")

// Write writes the page of a document. Nothing is written if the error wraps
// ErrTooLarge.
func Write(w io.Writer, d *Document) error {
	page, err := render(d)
	if err != nil {
		return err
	}
	if len(page) > MaxPage {
		return fmt.Errorf("%w: %d bytes, but the limit is %d: shrink the run, or look at it with replay --all", ErrTooLarge, len(page), MaxPage)
	}
	_, err = io.WriteString(w, page)
	return err
}

func render(d *Document) (string, error) {
	data, err := json.Marshal(d) // escapes <, > and &
	if err != nil {
		return "", err
	}
	script, err := dist.ReadFile("dist/viewer.js")
	if err != nil {
		return "", err
	}
	style, err := dist.ReadFile("dist/viewer.css")
	if err != nil {
		return "", err
	}
	policy := "default-src 'none'; script-src " + digest(script) + "; style-src " + digest(style) + "; img-src data:; base-uri 'none'; form-action 'none'"
	return strings.NewReplacer(
		"{title}", html.EscapeString(title(d)),
		"{policy}", policy,
		"{style}", string(style),
		"{data}", string(data),
		"{script}", string(script),
		"{plain}", html.EscapeString(plain(d)),
	).Replace(page), nil
}

// digest identifies a script or a style of the page in a policy.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func title(d *Document) string {
	if d.Violation == nil {
		return d.Scenario + ": no violation"
	}
	return d.Violation.Class + ": " + d.Scenario
}

// plain is the content for a browser without scripts.
func plain(d *Document) string {
	if d.Violation == nil {
		return d.Outcome
	}
	return d.Violation.Class + ": " + d.Violation.Message + "\n\nThe run is shown by a script, which does not run here. In a terminal: " + d.Command
}

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<noscript><pre>{plain}</pre></noscript>
<div id="app"></div>
<script type="application/json" id="run">{data}</script>
<script>{script}</script>
</body>
</html>
`
