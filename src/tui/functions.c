/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of functions: the columns of the summary, for all functions. */
#include "tui/pages.h"

#define FUNCTION_PAGE_COLUMNS(C)                                                                   \
	C(SELF, "self %", true)                                                                    \
	C(TOTAL, "total %", true)                                                                  \
	C(SAMPLES, "samples", true)                                                                \
	C(CALLS, "calls", true)                                                                    \
	C(BLOCKS, "blocks", true)                                                                  \
	C(INSTRUCTIONS, "instructions", true)                                                      \
	C(NAME, "function", false)

enum {
#define C(id, name, number) FUNCTION_PAGE_##id,
	FUNCTION_PAGE_COLUMNS(C)
#undef C
};

static void
functions_page_cell(const struct st_grid *g, size_t row, const struct st_grid_column *c,
                    struct st_grid_cell *out)
{
	const struct st_profile_function *f = &g->profile->functions.v[row];
	*out = (struct st_grid_cell){.kind = ST_GRID_COUNT};
	switch (c->of) {
	case FUNCTION_PAGE_SELF:
		out->kind = ST_GRID_REAL;
		out->real = 100 * st_profile_self_share(g->profile, f);
		break;
	case FUNCTION_PAGE_TOTAL:
		out->real = 100 * st_profile_total_share(g->profile, f);
		out->kind = out->real < 0 ? ST_GRID_NULL : ST_GRID_REAL;
		break;
	case FUNCTION_PAGE_SAMPLES:
		out->number = f->samples;
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
	const bool bound = c->of == FUNCTION_PAGE_CALLS && !f->calls_exact;
	return st_text_of("%s%s", bound ? "<=" : "", st_number(number, cell.number));
}

struct st_tui_page *
st_tui_functions_page(const struct st_profile *p, struct st_error *e)
{
	struct st_grid g = {.profile = p,
	                    .name = "functions",
	                    .help = "",
	                    .rows = p->functions.n,
	                    .cell = functions_page_cell,
	                    .text = functions_page_text};
	bool bad = false;
#define C(id, name, number) bad |= !st_grid_add(&g, name, number, FUNCTION_PAGE_##id);
	FUNCTION_PAGE_COLUMNS(C)
#undef C
	if (bad) {
		st_grid_free(&g);
		st_cause(e, ST_EXIT_FAILED, "no memory left for the functions");
		return NULL;
	}
	const struct st_report by_time = {.profile = p, .sort = ST_SORT_TIME};
	size_t n;
	struct st_tui_page *page = st_tui_grid_page(
	        &g, st_report_order(&by_time, &n),
	        st_profile_share_is_time(p) ? "functions" : "functions, shares of instructions", e);
	if (page)
		page->sorted = FUNCTION_PAGE_SELF;
	return page;
}
