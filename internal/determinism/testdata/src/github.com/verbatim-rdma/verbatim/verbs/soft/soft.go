package soft

type Device struct{}
