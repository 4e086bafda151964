// Package browser tests the pages of package view in a real Chromium, and makes the
// pictures of the documentation:
//
//	go test ./report/view/browser
//	go test ./report/view/browser -run Screenshots -screenshots docs/images
//
// Without a Chromium the tests are skipped; with VERBATIM_BROWSER=required in the
// environment they fail instead. testdata/axe holds axe-core 4.14.1 with its licence
// (MPL 2.0), as in the npm package axe-core.
package browser
