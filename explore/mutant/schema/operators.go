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
	{Boundary, "`<` becomes `<=` and the other way round, and so do `>` and `>=`"},
	{Logic, "`&&` becomes `||`, and the other way round"},
	{Arithmetic, "`+` becomes `-`, `-` becomes `+`, `*` becomes `+`, `|` becomes `&` and `&` becomes `|`"},
	{Constant, "an integer constant is one more or one less"},
	{Flag, "one flag of several, or the only one, is missing: a request is not signaled, fenced or inline, memory is not open"},
	{Enum, "a constant of a list is the next one"},
	{Opcode, "a request is another one: a Write in the place of an Atomic, and else the next in the list"},
	{Success, "an error is taken for success: where it is compared with nil, and where it is returned"},
	{Status, "the status of a completion is not looked at"},
	{Call, "a call that returns an error is left out, and taken for success"},
	{Lock, "a lock is not taken, and taken for held: a call that returns a bool and is named for locking"},
	{Statement, "a statement is left out: a call, an assignment, a loop, `defer`, `break`, `continue`"},
	{Return, "an early return is left out"},
	{Swap, "two neighbouring statements change places"},
	{Wait, "a wait is left out or shortened: an argument or a constant that is a duration"},
	{Stale, "what is read after a wait is the value of before it"},
	{Reread, "a value that was kept over a wait is read again after it"},
}
