/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/region.h"

#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/parse.h"
#include "base/text.h"
#include "symbol/symbol.h"

/* A thread's name has 15 characters; a pattern can have more. The list is short. */
enum { ST_MOST_THREAD_NAME = 32, ST_MOST_THREADS = 1000 };

/* ---- options ---- */

/* The end of the first name in a list. */
static const char *
end_of_name(const char *list)
{
	int depth = 0;
	for (; *list; list++) {
		depth += *list == '(' || *list == '<';
		depth -= *list == ')' || *list == '>';
		if (*list == ',' && depth <= 0)
			break;
	}
	return list;
}

static st_status
room_for_pattern(struct st_patterns *p, struct st_error *e)
{
	if (p->n < p->room)
		return 0;
	const size_t room = p->room ? 2 * p->room : 8;
	const char **text = reallocarray(p->text, room, sizeof *text);
	if (text)
		p->text = text;
	uint64_t *matched = reallocarray(p->matched, room, sizeof *matched);
	if (matched)
		p->matched = matched;
	if (!text || !matched)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	p->room = room;
	return 0;
}

/* Takes the name over, also when it fails. */
static st_status
add_pattern(struct st_patterns *p, const char *option, char *value, struct st_error *e)
{
	struct st_file_pattern of_file;
	int status = 0;
	if (!value)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	if (p->n == ST_MOST_PATTERNS)
		status = st_fail(e, ST_EXIT_USAGE, "--%s: at most %d patterns", option,
		                 ST_MOST_PATTERNS);
	else if (!*value)
		status = st_fail(e, ST_EXIT_USAGE, "--%s needs a name or a shell pattern", option);
	else if (st_file_pattern(value, &of_file) && (!*of_file.file || !*of_file.name))
		status = st_fail(
		        e, ST_EXIT_USAGE,
		        "--%s takes @FILE for the functions of a source file, @FILE:NAME for "
		        "some of them, not '%s'",
		        option, value);
	if (status || room_for_pattern(p, e)) {
		free(value);
		return -1;
	}
	p->matched[p->n] = 0;
	p->text[p->n++] = value;
	return 0;
}

st_status
st_patterns_add(struct st_patterns *p, const char *option, const char *value, struct st_error *e)
{
	for (;;) {
		const char *end = end_of_name(value);
		if (add_pattern(p, option, strndup(value, (size_t)(end - value)), e))
			return -1;
		if (!*end)
			return 0;
		value = end + 1;
	}
}

st_status
st_patterns_add_path(struct st_patterns *p, const char *option, const char *path,
                     struct st_error *e)
{
	char *pattern = malloc(2 * strlen(path) + 1), *to = pattern;
	for (; pattern && *path; path++) {
		if (strchr("*?[\\", *path))
			*to++ = '\\';
		*to++ = *path;
	}
	if (pattern)
		*to = '\0';
	return add_pattern(p, option, pattern, e);
}

void
st_patterns_free(struct st_patterns *p)
{
	for (size_t i = 0; i < p->n; i++)
		free((char *)p->text[i]);
	free(p->text);
	free(p->matched);
	*p = (struct st_patterns){0};
}

st_status
st_region_time(double *seconds, const char *option, const char *value, struct st_error *e)
{
	const st_status read = st_parse_time(value, seconds);
	if (!read && *seconds > 0 && *seconds < 1e9)
		return 0;
	if (!read && *seconds <= 0)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s takes a time that is greater than 0, not '%s'", option, value);
	return st_fail(e, ST_EXIT_USAGE,
	               "--%s takes a time such as 5s or 100ms, less than 1e9 s, not '%s'", option,
	               value);
}

st_status
st_region_signal(int *signo, const char *value, struct st_error *e)
{
	static const int allowed[] = {
#define S(signal) signal,
	        ST_TOGGLE_SIGNALS(S)
#undef S
	};
	const char *name = !strncasecmp(value, "SIG", 3) ? value + 3 : value;
	for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
		if (!strcasecmp(name, sigabbrev_np(allowed[i]))) {
			*signo = allowed[i];
			return 0;
		}
	return st_fail(e, ST_EXIT_USAGE,
	               "--toggle takes SIGUSR1, SIGUSR2, SIGHUP or SIGQUIT, not '%s'", value);
}

/* One word of the list. */
static bool
names_threads(const char *word, size_t n)
{
	const char *digits = "0123456789";
	size_t first = strspn(word, digits);
	if (!first)
		return n > 0 && n < ST_MOST_THREAD_NAME &&
		       (strncmp(word, "tid:", 4) || (n > 4 && strspn(word + 4, digits) == n - 4));
	if (first >= n)
		return first == n;
	size_t second = word[first] == '-' ? strspn(word + first + 1, digits) : 0;
	return second && first + 1 + second == n &&
	       strtoul(word, NULL, 10) <= strtoul(word + first + 1, NULL, 10);
}

st_status
st_region_threads(const char **list, const char *value, struct st_error *e)
{
	const char *word = value;
	for (;;) {
		size_t n = strcspn(word, ",");
		if (!names_threads(word, n) || strlen(value) > ST_MOST_THREADS)
			return st_fail(e, ST_EXIT_USAGE,
			               "--threads takes numbers and names such as "
			               "0,3-5,worker*,tid:4711, not '%s'",
			               value);
		if (!word[n])
			break;
		word += n + 1;
	}
	*list = value;
	return 0;
}

/* ---- functions ---- */

struct st_image *
st_region_image(struct st_region *r, const char *path)
{
	for (size_t i = 0; i < r->n_opened; i++)
		if (!strcmp(r->opened[i].path, path))
			return r->opened[i].image;
	struct st_region_image *more = realloc(r->opened, (r->n_opened + 1) * sizeof *more);
	char *copy = more ? strdup(path) : NULL;
	if (more)
		r->opened = more;
	if (!copy)
		return NULL;
	struct st_error e;
	r->opened[r->n_opened] = (struct st_region_image){copy, st_image_open(path, &e)};
	return r->opened[r->n_opened++].image;
}

/* A mapping under way, and what the functions that fit are for. */
struct matching {
	struct st_results_header *results;
	const struct st_map *map;
	uint32_t index;
	struct st_image *image;
	uint64_t bias; /* from link-time addresses to the target's */
	uint16_t what;
	uint64_t *matched; /* NULL: nobody asks */
	uint64_t named;    /* the function whose names the tool has been told of last */
};

static bool
region_add_entry(struct matching *m, const struct st_symbol *s)
{
	bool part = s->entry != s->start;
	const struct st_entry entry = {.start = s->start + m->bias,
	                               .end = s->end + m->bias,
	                               .whole = s->entry + m->bias,
	                               .map = (uint16_t)m->index,
	                               .what = part && m->what == ST_ENTRY_TOOL ? ST_ENTRY_PART
	                                                                        : m->what};
	return st_results_add_entry(m->results, &entry,
	                            entry.what == ST_ENTRY_PART ? "" : s->plain);
}

/* Tools ask for a function by whichever of its names they know: they are told of all of them, the
 * one that is shown first. */
static bool
add_names(struct matching *m, const struct st_symbol *s)
{
	size_t n;
	const struct st_symbol *names = st_image_names_of(m->image, s, &n);
	bool done = m->named == s->start + m->bias;
	m->named = s->start + m->bias;
	for (size_t i = 0; i < n && !done; i++)
		if (!region_add_entry(m, &names[i]))
			return false;
	return true;
}

static bool
region_add_function(const struct st_symbol *s, void *context)
{
	struct matching *m = context;
	uint64_t start = s->start + m->bias;
	bool part = s->entry != s->start;
	if (start < m->map->start || start >= m->map->end)
		return true;
	/* Nobody enters a function by its cold part, but its code is the function's. */
	if (part && m->what != ST_ENTRY_CHOSEN && m->what != ST_ENTRY_TOOL)
		return true;
	if (m->matched)
		++*m->matched;
	return m->what == ST_ENTRY_TOOL && !part ? add_names(m, s) : region_add_entry(m, s);
}

static void
match_all(struct matching *m, struct st_patterns *p, uint16_t what)
{
	m->what = what;
	for (size_t i = 0; i < p->n; i++) {
		m->matched = &p->matched[i];
		ST_IGNORE(st_image_match(m->image, p->text[i], region_add_function, m));
	}
}

/* The functions that a tool wants to know of: shell patterns, or all. */
static void
match_tool(struct matching *m, const char *patterns, uint64_t *matched)
{
	char word[256];
	m->what = ST_ENTRY_TOOL;
	m->matched = matched;
	m->named = 0;
	if (!patterns)
		ST_IGNORE(st_image_match(m->image, "*", region_add_function, m));
	while (patterns && *patterns) {
		size_t n = strcspn(patterns, " ");
		if (n && n < sizeof word) {
			memcpy(word, patterns, n);
			word[n] = 0;
			ST_IGNORE(st_image_match(m->image, word, region_add_function, m));
		}
		patterns += n + (patterns[n] == ' ');
	}
}

/* Does a pattern fit the image? */
static bool
chooses_image(struct st_patterns *p, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	bool chosen = false;
	for (size_t i = 0; i < p->n; i++)
		if (!fnmatch(p->text[i], strchr(p->text[i], '/') ? path : base, 0)) {
			p->matched[i]++;
			chosen = true;
		}
	return chosen;
}

bool
st_region_chooses_image(struct st_region *r, const char *path)
{
	return chooses_image(&r->images, path) || !r->images.n;
}

/* Tells unwinders in the program of frames whose unwind information is not in memory. */
static void
tell_frames(const struct matching *m)
{
	uint64_t offset, bytes;
	if (!st_image_lone_frames(m->image, &offset, &bytes))
		return;
	const struct st_entry frames = {.start = offset + m->bias,
	                                .end = offset + bytes + m->bias,
	                                .map = (uint16_t)m->index,
	                                .what = ST_ENTRY_FRAMES};
	st_results_add_entry(m->results, &frames, "");
}

/* The process that strobe has started, or a child, may have executed this program meanwhile. */
static bool
is_executed(const struct st_region *r, const struct st_results_header *results, const char *path)
{
	char link[64], exe[PATH_MAX];
	if (!r->own_of_children && results->layout.ppid != (uint32_t)getpid())
		return false;
	snprintf(link, sizeof link, "/proc/%u/exe", results->layout.pid);
	const ssize_t n = readlink(link, exe, sizeof exe - 1);
	exe[n > 0 ? n : 0] = '\0';
	return n > 0 && !strcmp(exe, path);
}

static void
region_on_image(void *arg, struct st_results_header *results, uint32_t index)
{
	struct st_region *r = arg;
	struct st_map copy, *map = &copy;
	char path[PATH_MAX];
	struct matching m = {.results = results, .map = map, .index = index};
	if (!st_results_copy_map(results, index, map) || !map->path ||
	    !*st_results_copy_text(results, map->path, path, sizeof path))
		return;
	bool chosen = chooses_image(&r->images, path);
	if (!chosen && r->own && is_executed(r, results, path)) {
		struct st_error e;
		chosen = !st_patterns_add_path(&r->images, "images", path, &e) &&
		         chooses_image(&r->images, path);
	}
	if (chosen && !r->functions.n) {
		const struct st_entry all = {.start = map->start,
		                             .end = map->end,
		                             .map = (uint16_t)index,
		                             .what = ST_ENTRY_CHOSEN};
		st_results_add_entry(results, &all, path);
	}
	m.image = st_region_image(r, path);
	uint64_t linked = m.image ? st_image_offset_of_code(m.image, map->pgoff) : UINT64_MAX;
	if (linked == UINT64_MAX)
		return;
	m.bias = map->start - linked;
	tell_frames(&m);
	match_all(&m, &r->start_at, ST_ENTRY_BEGIN);
	match_all(&m, &r->stop_at, ST_ENTRY_END);
	if (chosen || !r->images.n)
		match_all(&m, &r->functions, ST_ENTRY_CHOSEN);
	for (size_t i = 0; i < r->tools->n; i++)
		if (r->tools->about[i]->function)
			match_tool(&m, r->tools->about[i]->functions, &r->matched[i]);
}

/* ---- the run ---- */

void
st_region_apply(struct st_region *r, const struct st_toolset *tools, struct st_run_options *o)
{
	r->tools = tools;
	bool functions = r->start_at.n || r->stop_at.n || r->functions.n || r->images.n;
	for (size_t i = 0; i < tools->n; i++)
		functions |= tools->about[i]->function != NULL;
	if (functions) {
		o->on_image = region_on_image;
		o->image_arg = r;
	}
	o->delay = r->delay;
	o->length = r->length;
	o->toggle = r->toggle;
	o->threads = r->threads;
	if (r->start_at.n || r->stop_at.n)
		o->region_by |= ST_REGION_BY_FUNCTION;
	if (r->delay > 0 || r->length > 0 || r->toggle)
		o->region_by |= ST_REGION_BY_CONTROLLER;
	if (r->by_program)
		o->region_by |= ST_REGION_BY_PROGRAM;
	if (r->start_at.n || r->delay > 0 || r->by_program || r->toggle)
		o->region_by |= ST_REGION_OFF_AT_START;
	if ((r->functions.n || r->images.n) && !r->marks)
		o->region_by |= ST_REGION_LIMITED;
}

static void
note_no_thread(const char *list, struct st_profile *p)
{
	enum { SHOWN = 8 };
	struct st_nearest near = st_nearest_to(list);
	char names[512] = "";
	for (size_t i = 0; i < p->threads.n; i++) {
		const char *name = p->threads.v[i].name;
		st_nearest_try(&near, name, strlen(name));
		if (i < SHOWN)
			st_append(names, sizeof names, "%s%.15s tid:%lld", i ? ", " : "", name,
			          (long long)p->threads.v[i].tid);
	}
	st_profile_note(p, "--threads %s: there was no such thread%s%s%s%s%s%s", list,
	                p->threads.n ? " among " : "", names, p->threads.n > SHOWN ? ", ..." : "",
	                near.best ? "; did you mean '" : "", near.best ? near.best : "",
	                near.best ? "'?" : "");
}

static bool
any_matched(const struct st_patterns *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->matched[i])
			return true;
	return false;
}

const char *
st_region_fits_nothing(const struct st_region *r, bool threads)
{
	const struct {
		const char *option;
		const struct st_patterns *patterns;
	} all[] = {{"funcs", &r->functions},
	           {"images", &r->images},
	           {"start-at", &r->start_at},
	           {"main", &r->scope}};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].patterns->n && !any_matched(all[i].patterns))
			return all[i].option;
	return threads ? NULL : "threads";
}

const char *
st_region_note(struct st_region *r, const struct st_run *run, struct st_profile *p)
{
	st_region_note_unknown(r, p);
	st_region_note_asked(r, run, p);
	uint64_t fit = 0;
	for (size_t i = 0; i < run->n_processes; i++)
		fit += run->processes[i].results->threads.n_measured;
	if (r->threads && !fit)
		note_no_thread(r->threads, p);
	const char *nothing = st_region_fits_nothing(r, !r->threads || fit);
	for (size_t i = 0; i < run->n_processes; i++)
		if (run->processes[i].results->control.regions)
			return nothing;
	if (any_matched(&r->start_at))
		st_profile_note(p, "nothing was measured: the program never entered %s",
		                r->start_at.text[0]);
	else if (r->delay > 0)
		st_profile_note(p, "nothing was measured: the program ended before the delay");
	else if (r->toggle)
		st_profile_note(p, "nothing was measured: no SIG%s came", sigabbrev_np(r->toggle));
	else if (r->by_program)
		st_profile_note(p, "nothing was measured: the program never called "
		                   "strobe_region_begin()");
	return nothing;
}

void
st_region_free(struct st_region *r)
{
	for (size_t i = 0; i < r->n_opened; i++) {
		free(r->opened[i].path);
		st_image_close(r->opened[i].image);
	}
	free(r->opened);
	st_patterns_free(&r->start_at);
	st_patterns_free(&r->stop_at);
	st_patterns_free(&r->functions);
	st_patterns_free(&r->images);
	st_patterns_free(&r->scope);
	st_patterns_free(&r->excluded);
}
