// Package docs reads the pages of this repository: README.md and what is in the folder docs.
//
// On a page as it stands in the repository, [DeadLinks] finds the links that lead nowhere. docs/README.md lists the
// pages in the order in which a newcomer should read them; [Contents] reads that list. [Stage] prepares the pages for
// MkDocs, which makes a static site of them, and [CheckSite] looks for faults in that site. The command in
// internal/docs/site calls both, and scripts/site runs it.
package docs
