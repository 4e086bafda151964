// Package docs reads the pages of this repository: README.md and the folder docs.
//
// [DeadLinks] finds dead links in a page of the repository. docs/README.md lists the pages in the order in which a
// newcomer should read them, and [Contents] reads that list. [Stage] prepares the pages for MkDocs, which builds a
// static site from them. [CheckSite] looks for faults in that site. The command in internal/docs/site calls Stage and
// CheckSite, and scripts/site runs it.
package docs
