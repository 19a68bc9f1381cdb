/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tools that crashed or did not come back while the program ran: said with the results. */
#include <signal.h>
#include <string.h>

#include "session/toolset.h"
#include "wire/area.h"

/* ", in FUNCTION+OFFSET of FILE", as far as it is known. */
static void
name_place(char *text, size_t size, const struct st_run_tool *t, uint64_t entry, uint64_t at)
{
	uint64_t delta, base = t->file ? entry - st_tool_file_entry(t->file) : 0;
	const char *function = t->file ? st_tool_file_function(t->file, at - base, &delta) : NULL;
	if (function)
		snprintf(text, size, ", in %s+0x%llx of %s", function, (unsigned long long)delta,
		         st_tool_file_path(t->file));
	else if (t->file && at - base < ST_TOOL_SPACE)
		snprintf(text, size, ", at 0x%llx of %s", (unsigned long long)(at - base),
		         st_tool_file_path(t->file));
	else
		*text = 0;
}

static void
tool_failed_note(const struct st_run_tool *t, const struct st_process *process, size_t i,
                 struct st_profile *p)
{
	const struct st_results_header *h = process->results;
	char place[4200], what[80];
	uint32_t signo = h->tools.failed[i];
	name_place(place, sizeof place, t, h->plan.tool_entry[i], h->tools.failed_at[i]);
	if (signo == SIGXCPU)
		snprintf(what, sizeof what,
		         "did not return from a function within 5 s of CPU time");
	else
		snprintf(what, sizeof what, "crashed (%s)", strsignal((int)signo));
	st_profile_note(p,
	                "the tool %s %s%s in process %u: strobe stopped it there, and its results "
	                "are from the time before",
	                t->name, what, place, process->pid);
}

void
st_toolset_note_failures(const struct st_toolset *set, const struct st_run *run,
                         struct st_profile *p)
{
	for (size_t k = 0; k < run->n_processes; k++)
		for (size_t i = 0; i < set->n; i++)
			if (run->processes[k].results->tools.failed[i])
				tool_failed_note(&set->tools[i], &run->processes[k], i, p);
}
