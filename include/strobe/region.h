/* SPDX-License-Identifier: MIT */
/*
 * For programs that say themselves what is to be measured:
 *
 *	#include <strobe/region.h>
 *
 *	strobe_region_begin();
 *	work();
 *	strobe_region_end();
 *
 * `strobe run --region` then measures between the two calls, and nowhere else; they may be made any
 * number of times, by any thread, and are about the whole process. Without strobe each is one
 * instruction that does nothing. Nothing has to be linked.
 */
#ifndef STROBE_REGION_H
#define STROBE_REGION_H

/* nopl 0x5354...(%rax,%rax): no compiler uses such a displacement. */
#define STROBE_MARK_BEGIN 0x0f, 0x1f, 0x84, 0x00, 0x53, 0x74, 0x72, 0x62
#define STROBE_MARK_END 0x0f, 0x1f, 0x84, 0x00, 0x53, 0x74, 0x72, 0x65

static inline void
strobe_region_begin(void)
{
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x53, 0x74, 0x72, 0x62" ::: "memory");
}

static inline void
strobe_region_end(void)
{
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x53, 0x74, 0x72, 0x65" ::: "memory");
}

#endif
