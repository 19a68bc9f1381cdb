/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"
#include "collect/view.h"
#include "report/text.h"

/* Erases the line. */
#define ERASE "\r\033[K"

/* Before this a line would only flicker. */
static const double first_seconds = 0.5;

void
st_progress_init(struct st_progress *p, bool quiet)
{
	*p = (struct st_progress){.enabled = !quiet && isatty(STDERR_FILENO)};
}

void
st_progress_line(struct st_progress *p, const char *text)
{
	char line[400];
	if (!p->enabled)
		return;
	snprintf(line, sizeof line, ERASE "%s", text);
	st_shorten(line + strlen(ERASE), st_style_of(stderr).width - 1);
	/* Straight to the terminal: nothing of it must stay in a buffer when the program forks or
	 * ends. */
	p->shown |= write(STDERR_FILENO, line, strlen(line)) > 0;
}

void
st_progress_erase(struct st_progress *p)
{
	if (p->shown && write(STDERR_FILENO, ERASE, strlen(ERASE)) > 0)
		p->shown = false;
}

/* Instructions so far: a sum over all blocks, so not more often than every hundred times its own
 * cost. */
static void
count_instructions(struct st_progress *p, const struct st_view *v, double elapsed)
{
	struct st_view_counts counts;
	double begin = st_now_raw();
	if (elapsed < p->next || !v->counting || st_view_count(v, &counts))
		return;
	uint64_t sum = 0;
	for (uint32_t b = ST_FIRST_ID; b < v->n_blocks; b++)
		if (st_view_is_block(v, b))
			sum += counts.executions[b] * v->blocks[b].n_insns + counts.partial[b];
	st_view_counts_free(&counts);
	snprintf(p->instructions, sizeof p->instructions, "%s, ",
	         ST_COUNT(sum, "instruction", "instructions"));
	p->cost = st_now_raw() - begin;
	p->next = elapsed + 100 * p->cost;
}

/* Of the service: its metric now, and what may be used up for it. */
static void
tell_qos(const struct st_progress *p, char *text, size_t size)
{
	struct st_qos_row now = p->qos ? st_qos_last(p->qos) : (struct st_qos_row){.value = NAN};
	*text = 0;
	if (!p->qos)
		return;
	if (isnan(now.value))
		snprintf(text, size, ", metric %s", st_qos_state_name(now.state));
	else
		snprintf(text, size, ", metric %.5g %s, budget %.3g %%", now.value,
		         st_qos_state_name(now.state), 100 * now.budget / p->period);
}

void
st_progress_show(void *arg, const struct st_process *processes, size_t n, double elapsed)
{
	struct st_progress *p = arg;
	const struct st_results_header *results = n ? processes[0].results : NULL;
	struct st_view v;
	char service[80], line[400];
	if (!p->enabled || elapsed < first_seconds || !results ||
	    st_view_open(&v, results, (size_t)results->layout.file_size, NULL))
		return;
	count_instructions(p, &v, elapsed);
	tell_qos(p, service, sizeof service);
	snprintf(line, sizeof line, "strobe: %.1f s, %s%s translated%s", elapsed, p->instructions,
	         ST_COUNT(v.header->stats[ST_STAT_blocks], "block", "blocks"), service);
	st_progress_line(p, line);
}
