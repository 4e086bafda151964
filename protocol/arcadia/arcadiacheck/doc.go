// Package arcadiacheck has the scenarios that check package arcadia, and their properties. They cover the
// primitives and the log, on the persistent memory of one host and with copies on others. See docs/arcadia.md.
package arcadiacheck
