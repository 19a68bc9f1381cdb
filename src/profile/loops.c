/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/loops.h"

static void
extend(struct st_loop *l, uint64_t least, uint64_t most)
{
	if (!l->least || least < l->least)
		l->least = least;
	if (most > l->most)
		l->most = most;
}

struct st_loop
st_loop_read(const strobe_loop *l, uint64_t count)
{
	struct st_loop out = {.iterations = count, .least = l->least, .most = l->most};
	for (unsigned i = 0; i < STROBE_LOOP_CLASSES; i++)
		out.classes[i] = l->histogram[i];
	if (count > l->base) {
		uint64_t open = count - l->base;
		out.classes[strobe_loop_class(open)]++;
		extend(&out, open, open);
	}
	if (l->open)
		extend(&out, l->open, l->open);
	for (unsigned i = 0; i < STROBE_LOOP_CLASSES; i++)
		out.entries += out.classes[i];
	return out;
}

void
st_loop_add(struct st_loop *to, const struct st_loop *from)
{
	to->entries += from->entries;
	to->iterations += from->iterations;
	for (unsigned i = 0; i < STROBE_LOOP_CLASSES; i++)
		to->classes[i] += from->classes[i];
	if (from->entries)
		extend(to, from->least, from->most);
}
