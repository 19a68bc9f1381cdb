/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/view.h"

#include <stdarg.h>

#include "base/number.h"
#include "report/text.h"

/* Numbers of at most seven columns. */
enum { NUMBER = 16, COLUMN = 7, MOST_FRAMES = 64 };

/* Under way: a line that is not longer than the terminal is wide. */
struct writer {
	struct st_live *l;
	const struct st_live_look *look;
	FILE *out;
	unsigned files;
	size_t left; /* lines */
};

__attribute__((format(printf, 3, 4))) static void
line(struct writer *w, bool title, const char *format, ...)
{
	char *text = NULL;
	va_list ap;
	if (!w->left)
		return;
	w->left--;
	va_start(ap, format);
	int n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0)
		return;
	st_shorten(text, w->look->width);
	bool bold = title && w->look->colour;
	fprintf(w->out, "%s%s%s\n", bold ? "\033[1m" : "", text, bold ? "\033[0m" : "");
	free(text);
}

/* "999", "1.23k", "45.6M" */
static const char *
view_number(char text[NUMBER], double value)
{
	static const char units[] = " kMGTPE";
	size_t unit = 0;
	for (; value >= 999.5 && unit + 2 < sizeof units; unit++)
		value /= 1000;
	if (!unit)
		snprintf(text, NUMBER, "%.0f", value);
	else
		snprintf(text, NUMBER, "%.*f%c", value < 9.995 ? 2 : value < 99.95, value,
		         units[unit]);
	return text;
}

/* "12.3us", "456ms", "1.23s", "123s", "12.3h" */
static const char *
duration(char text[NUMBER], double seconds)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
	size_t unit = 0, last = sizeof units / sizeof *units - 1;
	if (seconds <= 0)
		return strcpy(text, "0s");
	while (unit < last && seconds >= 0.9995 * units[unit + 1].seconds &&
	       (unit != 2 || seconds >= 600))
		unit++;
	double value = seconds / units[unit].seconds;
	snprintf(text, NUMBER, "%.*f%s", value < 9.995 ? 2 : value < 99.95, value,
	         units[unit].name);
	return text;
}

/* The name of the measured quantity, in sentences and in titles of columns. */
static const char *
activations(const struct st_live *l)
{
	return l->blocks ? "runs" : "calls";
}

/* Returns the text of a value: a duration, or a number. */
static const char *
worth(const struct writer *w, char text[NUMBER], double value)
{
	if (w->l->worth == ST_LIVE_TIME)
		return duration(text, w->look->tsc_hz > 0 ? value / w->look->tsc_hz : 0);
	return view_number(text, value);
}

static double
rate(const struct writer *w, uint64_t since)
{
	return w->look->interval > 0 ? (double)since / w->look->interval : 0;
}

static void
view_write_title(struct writer *w, const char *what)
{
	const char *calls = activations(w->l);
	char each[NUMBER];
	snprintf(each, sizeof each, "%s/s", calls);
	switch (w->l->worth) {
	case ST_LIVE_TIME:
		line(w, true, "   share   self/s     self  %*s  %s", COLUMN, each, what);
		break;
	case ST_LIVE_INSTRUCTIONS:
		line(w, true, "   share  insns/s    insns  %*s  %s", COLUMN, each, what);
		break;
	default:
		line(w, true, "   share  %*s  %*s  %s", COLUMN, each, COLUMN, calls, what);
	}
}

/* Columns of a row before its name, and the least number of columns of a name. */
enum { SHARE = 8, LEAST_NAME = 12 };

static size_t
room_for_name(const struct writer *w)
{
	size_t before = SHARE + (w->l->worth == ST_LIVE_ACTIVATIONS ? 2 : 3) * (COLUMN + 2) + 2;
	size_t width = w->look->width;
	return width > before + LEAST_NAME ? width - before : LEAST_NAME;
}

static void
view_write_row(struct writer *w, const struct st_live_item *i, const char *name)
{
	char each[NUMBER], all[NUMBER], calls[NUMBER];
	const struct st_live *l = w->l;
	unsigned n = l->worth == ST_LIVE_ACTIVATIONS ? ST_LIVE_COUNT : ST_LIVE_WORTH;
	uint64_t since = st_live_since(i, n);
	uint64_t part = w->look->of_all ? i->now[n] : since;
	uint64_t whole = w->look->of_all ? l->now[n] : l->since[n];
	double share = whole ? 100 * (double)part / (double)whole : 0;
	worth(w, each, rate(w, since));
	worth(w, all, (double)i->now[n]);
	view_number(calls, rate(w, st_live_since(i, ST_LIVE_COUNT)));
	if (l->worth == ST_LIVE_ACTIVATIONS)
		line(w, false, "  %5.1f%%  %*s  %*s  %s", share, COLUMN, each, COLUMN, all, name);
	else
		line(w, false, "  %5.1f%%  %*s  %*s  %*s  %s", share, COLUMN, each, COLUMN, all,
		     COLUMN, calls, name);
}

/* The innermost labels of a context, as many as fit, the innermost last. */
static char *
view_path_of(struct writer *w, uint32_t context)
{
	const struct st_live_item *contexts = w->l->contexts.all.v;
	static const char arrow[] = " > ", more[] = ".. > ";
	size_t room = room_for_name(w);
	char *path = NULL;
	for (unsigned n = 0; context != ST_LIVE_NONE; n++) {
		const char *name = st_live_name(w->l, (uint32_t)contexts[context].at, &w->files);
		uint32_t above = contexts[context].owner;
		size_t used = path ? st_columns(path) : 0, hidden = strlen(more);
		bool fits = used + st_columns(name) + strlen(arrow) +
		                    (above == ST_LIVE_NONE ? 0 : hidden) <=
		            room;
		char *longer = NULL;
		if (path && (!fits || n == MOST_FRAMES)) {
			if (asprintf(&longer, "%s%s", more, path) >= 0) {
				free(path);
				path = longer;
			}
			return path;
		}
		if (asprintf(&longer, "%s%s%s", name, path ? arrow : "", path ? path : "") < 0)
			return path;
		free(path);
		path = longer;
		context = above;
	}
	return path;
}

static void
write_places(struct writer *w, size_t lines)
{
	uint32_t *hottest = calloc(lines + 1, sizeof *hottest);
	size_t n =
	        hottest ? st_live_hottest(w->l, &w->l->places, w->look->of_all, hottest, lines) : 0;
	view_write_title(w, w->l->blocks ? "basic blocks" : "functions");
	for (size_t i = 0; i < n; i++)
		view_write_row(w, &w->l->places.all.v[hottest[i]],
		               st_live_name(w->l, hottest[i], &w->files));
	for (size_t i = n; i < lines; i++)
		line(w, false, "%s", "");
	free(hottest);
}

static void
view_write_contexts(struct writer *w, size_t lines)
{
	const struct st_live *l = w->l;
	bool others = lines && l->others.now[ST_LIVE_COUNT];
	uint32_t *hottest = calloc(lines + 1, sizeof *hottest);
	size_t n =
	        hottest ? st_live_hottest(l, &l->contexts, w->look->of_all, hottest, lines - others)
	                : 0;
	view_write_title(w, "contexts");
	for (size_t i = 0; i < n; i++) {
		char *path = view_path_of(w, hottest[i]);
		view_write_row(w, &l->contexts.all.v[hottest[i]], path ? path : "?");
		free(path);
	}
	if (others)
		view_write_row(w, &l->others, "(contexts that came when there were too many)");
	free(hottest);
}

/* Places that were met: code that was translated may not have run. */
static size_t
count_seen(const struct st_live_items *items)
{
	size_t n = 0;
	for (size_t i = 0; i < items->all.n; i++)
		n += items->all.v[i].now[ST_LIVE_COUNT] != 0;
	return n;
}

static void
write_head(struct writer *w)
{
	const struct st_live *l = w->l;
	const struct st_live_look *look = w->look;
	char processes[96] = "";
	size_t n = count_seen(&l->places);
	char contexts[128] = "";
	if (!look->only_places)
		snprintf(contexts, sizeof contexts, "%s, ",
		         l->others.now[ST_LIVE_COUNT]
		                 ? ST_COUNT(l->contexts.all.n, "or more contexts",
		                            "or more contexts")
		                 : ST_COUNT(l->contexts.all.n, "context", "contexts"));
	if (l->processes.n > 1)
		snprintf(processes, sizeof processes, ", %s of %s processes",
		         ST_NUMBER(l->n_running), ST_NUMBER(l->processes.n));
	line(w, true, "strobe %s: %s, %.1f s, %s%s, %s%s", look->command, look->what, look->elapsed,
	     ST_COUNT(l->n_threads, "thread", "threads"), processes, contexts,
	     l->blocks ? ST_COUNT(n, "basic block", "basic blocks")
	               : ST_COUNT(n, "function", "functions"));
	char each[NUMBER], all[NUMBER], since[64];
	snprintf(since, sizeof since, "the last %.1f s", look->interval);
	line(w, false, "%s %s/s, %s in all; hottest of %s%s%s",
	     view_number(each, rate(w, l->since[ST_LIVE_COUNT])), activations(l),
	     view_number(all, (double)l->now[ST_LIVE_COUNT]), look->of_all ? "all" : since,
	     look->keys ? "; " : "", look->keys ? look->keys : "");
}

/* Two tables, the first with half of the lines; where there are few, that one alone. */
bool
st_live_view(struct st_live *l, const struct st_live_look *look, FILE *out)
{
	enum { HEAD = 2, TITLE = 1, FEW = 8, MANY = 14 };
	struct writer w = {
	        .l = l, .look = look, .out = out, .files = look->files, .left = look->height};
	write_head(&w);
	size_t gap = look->height >= MANY;
	bool both = look->height >= FEW && !look->only_places;
	size_t frame = HEAD + (1 + both) * (gap + TITLE);
	size_t rows = both || gap ? look->height - frame : look->height;
	if (gap)
		line(&w, false, "%s", "");
	write_places(&w, both ? (rows + 1) / 2 : rows);
	if (gap && both)
		line(&w, false, "%s", "");
	if (both)
		view_write_contexts(&w, rows / 2);
	return w.files != 0;
}
