package siftcheck

// Classes of violations, besides those of the recorder.
const (
	TwoCoordinators = "two-coordinators"
	Disagree        = "nodes-disagree"
	Stray           = "stray-write"
	Unavailable     = "unavailable"
	Direct          = "direct-write-lost"
	Snapshot        = "wrong-snapshot"
	Unordered       = "entries-without-order"
)

// Conditions that a search may be expected to meet.
const (
	sawUnacked     = "a recovery returned an unacknowledged write"
	sawBehind      = "a recovery returned without an unacknowledged write"
	sawDiffer      = "a recovery found logs that differ"
	sawCopied      = "a recovery copied the memory of a node"
	sawFewer       = "a write was acknowledged although a memory node had failed"
	sawSplit       = "an election that nobody won"
	sawLost        = "a candidate lost to another node"
	sawAgain       = "a node won after a round that it had not won"
	sawDeposed     = "a coordinator found that it had been replaced"
	sawFenced      = "a replaced coordinator could not write"
	sawLate        = "a coordinator wrote while another node stood for election"
	sawServed      = "a coordinator answered a read while another one stood for election"
	sawRefused     = "a node won, and was replaced before it could serve"
	sawTakeover    = "two nodes led one after the other"
	sawHalf        = "a direct write was found on some nodes only"
	sawJoined      = "a memory node was brought back"
	sawPartial     = "a memory node was brought back with a part of the blocks"
	sawTogether    = "two tasks wrote at the same time"
	sawRefusedCopy = "a replaced coordinator did not bring a memory node back"
	sawWaited      = "a write waited until a memory node had joined"
	sawRestarted   = "a group started again from a snapshot"
	sawForgotten   = "a snapshot lacked acknowledged writes"
	sawReplaced    = "a store was given the whole memory"
	sawTooFew      = "too few memory nodes were up to date to rebuild the blocks"
	sawDecoded     = "a read decoded a block"
	sawOutsider    = "a memory node had restarted, and took no part"
)
