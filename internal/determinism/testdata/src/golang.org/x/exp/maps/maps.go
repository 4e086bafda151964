// Package maps is as it was before the standard library had one.
package maps

func Keys[K comparable, V any](m map[K]V) []K { return nil }
