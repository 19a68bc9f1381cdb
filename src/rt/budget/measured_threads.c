/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which threads are measured. The list is that of st_region_threads in cli/region.h, in which
 * everything has been checked. */
#include <asm/unistd.h>

#include "rt/budget/region.h"
#include "rt/tool/tool.h"

/* Does the name fit the pattern of n characters? '*' stands for anything. */
static bool
fits_name(const char *pattern, size_t n, const char *name)
{
	for (; n && *pattern != '*'; pattern++, name++, n--)
		if (*pattern != *name)
			return false;
	if (!n)
		return !*name;
	for (;; name++) {
		if (fits_name(pattern + 1, n - 1, name))
			return true;
		if (!*name)
			return false;
	}
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static uint64_t
thread_number_at(const char **text)
{
	uint64_t n = 0;
	for (; is_digit(**text); ++*text)
		n = n * 10 + (uint64_t)(**text - '0');
	return n;
}

static bool
fits_word(const char *word, size_t n, const struct thread *t, const char *name)
{
	if (n > 4 && memcmp(word, "tid:", 4) == 0) {
		word += 4;
		return thread_number_at(&word) == t->tid;
	}
	if (!is_digit(*word))
		return fits_name(word, n, name);
	uint64_t first = thread_number_at(&word), last = first;
	if (*word == '-') {
		word++;
		last = thread_number_at(&word);
	}
	return t->record >= first && t->record <= last;
}

static bool
fits_list(const char *list, const struct thread *t, const char *name)
{
	for (;;) {
		size_t n = 0;
		while (list[n] && list[n] != ',')
			n++;
		if (fits_word(list, n, t, name))
			return true;
		if (!list[n])
			return false;
		list += n + 1;
	}
}

void
thread_choose(struct thread *t)
{
	struct st_results_header *r = rt.results;
	char name[16] = "";
	if (!r->plan.threads)
		return;
	SYS(__NR_prctl, 16 /* PR_GET_NAME */, name);
	const char *list = (const char *)r + r->layout.off_strings + r->plan.threads;
	t->budget.left_out = !fits_list(list, t, name);
	if (!t->budget.left_out)
		__atomic_fetch_add(&r->threads.n_measured, 1, __ATOMIC_RELAXED);
}
