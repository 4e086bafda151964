// Package story tells a run in sentences: what clients asked for and got, what was in
// whose memory by then, which hosts failed, what a recovery read and did not find, and
// which promise broke.
//
//	for _, s := range story.Tell(document) {
//		fmt.Println(s.Step, s.Text)
//	}
//
// A story is made from the document of a replay ([view.New]) and knows no protocol. It
// says only what the run did: a piece "never arrives" if the simulator dropped it, and
// "has not arrived" before a Read if it landed after the Read had sampled its bytes.
package story
