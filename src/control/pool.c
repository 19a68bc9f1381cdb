/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <sys/mman.h>
#include <unistd.h>

#include "control/internal.h"

struct st_budget_pool
st_pool_first(const struct st_budget_plan *b, bool attached)
{
	struct st_budget_pool p = {.amount = b->amount};
	if (b->share != ST_SHARE_TREE)
		return p;
	p.begins = attached ? ST_POOL_GROWS : b->first_ns ? ST_POOL_LATE : ST_POOL_FULL;
	if (p.begins == ST_POOL_LATE)
		p.clock = b->period_ns - b->first_ns;
	return p;
}

st_status
st_pool_make(struct st_pool *pool, const struct st_run_options *options, struct st_error *e)
{
	const struct st_budget_plan *b = &options->budget;
	*pool = (struct st_pool){.fd = -1};
	if (b->share != ST_SHARE_TREE || !b->period_ns ||
	    !(options->follow || options->follow_exec))
		return 0;
	pool->here = st_memory_make(sizeof *pool->here, &pool->fd, e);
	if (!pool->here)
		return -1;
	*pool->here = st_pool_first(b, false);
	return 0;
}

void
st_pool_end(struct st_pool *pool, struct st_results_header *first)
{
	const struct st_budget_pool *p = pool->here ? pool->here : &first->budget.pool;
	const struct st_budget_plan *plan = &first->plan.budget;
	if (plan->share == ST_SHARE_TREE && p->until_ns)
		first->budget.until_ns = p->until_ns - st_pool_first(plan, false).clock;
	if (!pool->here)
		return;
	munmap(pool->here, sizeof *pool->here);
	close(pool->fd);
	pool->here = NULL;
}
