// Package drawing draws a run as a picture: time runs downwards, each host has a
// lane, arrows are work requests, and below each lane is the memory that they
// reached. All words are left of the lanes or below them, so no arrow crosses one.
package drawing
