/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reading end of the ring of stacks. */
#include "control/supervisor.h"

/* Whether the record can be what the runtime wrote: the program may have written over it. */
static bool
is_sound(const struct st_stack *s, uint64_t at)
{
	if (s->space % ST_STACK_ALIGN || s->space < sizeof *s || s->space > ST_STACK_RING - at)
		return false;
	return s->filler || s->bytes <= s->space - sizeof *s;
}

void
st_stacks_drain(const struct st_run_options *o, struct st_results_header *h)
{
	uint64_t tail = h->samples.stack_tail;
	if (!h->plan.take_stacks)
		return;
	/* No further than what was there at the start: a fast writer must not keep us here. */
	uint64_t head = __atomic_load_n(&h->samples.stack_head, __ATOMIC_ACQUIRE);
	if (tail % ST_STACK_ALIGN || head - tail > ST_STACK_RING) {
		__atomic_store_n(&h->samples.stack_tail, head & -(uint64_t)ST_STACK_ALIGN,
		                 __ATOMIC_RELEASE);
		return;
	}
	while (tail < head) {
		uint64_t at = tail % ST_STACK_RING;
		const struct st_stack *record = st_section(h, h->layout.off_stacks + at);
		if (__atomic_load_n(&record->mark, __ATOMIC_ACQUIRE) != tail + 1)
			return;
		const struct st_stack s = *record;
		if (!is_sound(&s, at)) {
			__atomic_store_n(&h->samples.stack_tail, head, __ATOMIC_RELEASE);
			return;
		}
		if (!s.filler)
			o->on_stack(o->stack_arg, h, &s, (const unsigned char *)(record + 1));
		tail += s.space;
		__atomic_store_n(&h->samples.stack_tail, tail, __ATOMIC_RELEASE);
	}
}
