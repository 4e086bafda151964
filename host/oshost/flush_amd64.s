#include "textflag.h"

// func clwb(p unsafe.Pointer)
TEXT ·clwb(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	CLWB (AX)
	RET

// func clflushopt(p unsafe.Pointer)
TEXT ·clflushopt(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	CLFLUSHOPT (AX)
	RET

// func clflush(p unsafe.Pointer)
TEXT ·clflush(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	CLFLUSH (AX)
	RET

// func storeFence()
TEXT ·storeFence(SB), NOSPLIT, $0-0
	SFENCE
	RET

// func features() uint32
TEXT ·features(SB), NOSPLIT, $0-4
	XORL AX, AX
	CPUID
	XORL BX, BX
	CMPL AX, $7
	JLT  done
	MOVL $7, AX
	XORL CX, CX
	CPUID
done:
	MOVL BX, ret+0(FP)
	RET
