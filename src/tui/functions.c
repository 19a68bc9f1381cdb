/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of functions: the columns of the summary, for all functions. */
#include <stdlib.h>

#include "profile/waits.h"
#include "tui/pages.h"

#define FUNCTION_PAGE_COLUMNS(C)                                                                   \
	C(SHARE, "self %", true)                                                                   \
	C(TOTAL, "total %", true)                                                                  \
	C(SAMPLES, "samples", true)                                                                \
	C(WAITING, "waiting", true)                                                                \
	C(CALLS, "calls", true)                                                                    \
	C(BLOCKS, "blocks", true)                                                                  \
	C(INSTRUCTIONS, "instructions", true)                                                      \
	C(NAME, "function", false)

enum {
#define C(id, name, number) FUNCTION_PAGE_##id,
	FUNCTION_PAGE_COLUMNS(C)
#undef C
};

/* The metrics of which self % may be a share: M(name, field). */
#define FUNCTION_PAGE_METRICS(M)                                                                   \
	M("samples", samples)                                                                      \
	M("instructions", instructions) M("calls", calls) M("blocks", executions)

static uint64_t
functions_page_value(const struct st_profile_function *f, size_t metric)
{
	const uint64_t values[] = {
#define M(name, field) f->field,
	        FUNCTION_PAGE_METRICS(M)
#undef M
	};
	return values[metric];
}

static const char *
functions_page_metric(const struct st_tui *t, size_t i)
{
	static const char *const names[] = {
#define M(name, field) name,
	        FUNCTION_PAGE_METRICS(M)
#undef M
	};
	(void)t;
	return i < sizeof names / sizeof *names ? names[i] : NULL;
}

/* Until the user chooses one: time if there are enough samples, else instructions. */
size_t
st_tui_usual_function_metric(const struct st_profile *p)
{
	return st_profile_share_is_time(p) ? 0 : 1;
}

static size_t
functions_page_chosen(const struct st_tui *t)
{
	return t->function_metric;
}

static void
functions_page_choose(struct st_tui *t, size_t metric)
{
	t->function_metric = metric;
}

const struct st_tui_metrics st_tui_function_metrics = {functions_page_metric, functions_page_chosen,
                                                       functions_page_choose};

/* The metric of which self % is a share, and its sum over all functions. */
struct functions_page_of {
	size_t metric;
	double all;
};

static double
functions_page_share(const struct st_grid *g, const struct st_profile_function *f)
{
	const struct functions_page_of *of = g->owned;
	return of->all > 0 ? (double)functions_page_value(f, of->metric) / of->all : 0;
}

static void
functions_page_cell(const struct st_grid *g, size_t row, const struct st_grid_column *c,
                    struct st_grid_cell *out)
{
	const struct st_profile_function *f = &g->profile->functions.v[row];
	*out = (struct st_grid_cell){.kind = ST_GRID_COUNT};
	switch (c->of) {
	case FUNCTION_PAGE_SHARE:
		out->kind = ST_GRID_REAL;
		out->real = 100 * functions_page_share(g, f);
		break;
	case FUNCTION_PAGE_TOTAL:
		out->real = 100 * st_profile_total_share(g->profile, f);
		out->kind = out->real < 0 ? ST_GRID_NULL : ST_GRID_REAL;
		break;
	case FUNCTION_PAGE_SAMPLES:
		out->number = f->samples;
		break;
	case FUNCTION_PAGE_WAITING:
		out->number = f->waiting_ns;
		break;
	case FUNCTION_PAGE_CALLS:
		out->number = f->calls;
		break;
	case FUNCTION_PAGE_BLOCKS:
		out->number = f->executions;
		break;
	case FUNCTION_PAGE_INSTRUCTIONS:
		out->number = f->instructions;
		break;
	default:
		*out = (struct st_grid_cell){.kind = ST_GRID_TEXT, .text = f->name};
	}
}

static char *
functions_page_text(const struct st_grid *g, size_t row, const struct st_grid_column *c)
{
	const struct st_profile_function *f = &g->profile->functions.v[row];
	char number[ST_NUMBER_SIZE];
	struct st_grid_cell cell;
	functions_page_cell(g, row, c, &cell);
	if (c->of == FUNCTION_PAGE_NAME) {
		const char *image = st_base_name(g->profile->images.v[f->image].path);
		return st_text_of(image[0] == '[' ? "%s %s" : "%s [%s]", f->name, image);
	}
	if (cell.kind == ST_GRID_NULL)
		return st_text_of("-");
	if (cell.kind == ST_GRID_REAL)
		return st_text_of("%.2f", cell.real);
	if (c->of == FUNCTION_PAGE_WAITING)
		return st_text_of("%s", st_duration(number, (int64_t)cell.number));
	const bool bound = c->of == FUNCTION_PAGE_CALLS && !f->calls_exact;
	return st_text_of("%s%s", bound ? "<=" : "", st_number(number, cell.number));
}

static bool
functions_page_link(const struct st_grid *g, size_t row, size_t i, struct st_tui_link *link)
{
	(void)g;
	*link = (struct st_tui_link){"function", (uint32_t)row, UINT32_MAX};
	return !i;
}

static struct functions_page_of *
functions_page_total(const struct st_profile *p, size_t metric)
{
	struct functions_page_of *of = calloc(1, sizeof *of);
	for (size_t i = 0; of && i < p->functions.n; i++)
		of->all += (double)functions_page_value(&p->functions.v[i], metric);
	if (of)
		of->metric = metric;
	return of;
}

struct st_tui_page *
st_tui_functions_page(const struct st_profile *p, size_t metric, struct st_error *e)
{
	const struct st_report by_time = {.profile = p, .sort = ST_SORT_TIME};
	char title[80];
	size_t n;
	struct st_grid g = {.profile = p,
	                    .name = "functions",
	                    .help = "",
	                    .rows = p->functions.n,
	                    .cell = functions_page_cell,
	                    .text = functions_page_text,
	                    .owned = functions_page_total(p, metric),
	                    .release = free};
	bool bad = !g.owned;
#define C(id, name, number)                                                                        \
	if (FUNCTION_PAGE_##id != FUNCTION_PAGE_WAITING || st_profile_has_waits(p))                \
		bad |= !st_grid_add(&g, name, number, FUNCTION_PAGE_##id);
	FUNCTION_PAGE_COLUMNS(C)
#undef C
	if (bad) {
		st_grid_free(&g);
		st_cause(e, ST_EXIT_FAILED, "no memory left for the functions");
		return NULL;
	}
	snprintf(title, sizeof title, "functions by %s", functions_page_metric(NULL, metric));
	struct st_tui_page *page = st_tui_grid_page(&g, st_report_order(&by_time, &n), title, e);
	if (!page)
		return NULL;
	page->metrics = &st_tui_function_metrics;
	st_tui_grid_links(page, functions_page_link);
	ST_IGNORE(st_tui_page_sort(page, FUNCTION_PAGE_SHARE,
	                           false)); /* without memory they keep the order of the report */
	return page;
}
