package schema

// Operator is a kind of change.
type Operator string

// The operators.
const (
	Negate     Operator = "negate"
	Boundary   Operator = "boundary"
	Logic      Operator = "logic"
	Arithmetic Operator = "arithmetic"
	Constant   Operator = "constant"
	Flag       Operator = "flag"
	Enum       Operator = "enum"
	Opcode     Operator = "opcode"
	Success    Operator = "success"
	Status     Operator = "status"
	Call       Operator = "call"
	Lock       Operator = "lock"
	Statement  Operator = "statement"
	Return     Operator = "return"
	Swap       Operator = "swap"
	Wait       Operator = "wait"
	Stale      Operator = "stale"
	Reread     Operator = "reread"
)

// Operators describes each operator.
var Operators = []struct {
	Name Operator
	Does string
}{
	{Negate, "a condition is negated, or one operand of `&&`, `||` or `!` in it"},
	{Boundary, "`<` becomes `<=` and vice versa; the same for `>` and `>=`"},
	{Logic, "`&&` becomes `||`, and vice versa"},
	{Arithmetic, "`+` becomes `-`, `-` becomes `+`, `*` becomes `+`, `|` becomes `&` and `&` becomes `|`"},
	{Constant, "an integer constant is increased or decreased by one"},
	{Flag, "one of the flags is omitted: a request is not signaled, fenced or inline, or memory is not accessible"},
	{Enum, "a constant of an enumeration is replaced by the next one"},
	{Opcode, "an opcode is replaced: an Atomic by a Write, any other by the next one"},
	{Success, "an error is treated as success, where it is compared with nil or returned"},
	{Status, "the status of a completion is ignored"},
	{Call, "a call that returns an error is omitted, and treated as success"},
	{Lock, "a lock is not acquired, but treated as held: a call that returns a bool and has the name of a lock operation"},
	{Statement, "a statement is omitted: a call, an assignment, a loop, `defer`, `break`, `continue`"},
	{Return, "an early return is omitted"},
	{Swap, "two adjacent statements are swapped"},
	{Wait, "a wait is omitted or shortened: a duration that is an argument or a constant"},
	{Stale, "a read after a wait returns the value from before the wait"},
	{Reread, "a value that was kept during a wait is reread after it"},
}
