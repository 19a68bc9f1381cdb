/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe trace --list-usdt: the static probes of a program and of its libraries. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/trace.h"
#include "control/program.h"
#include "report/report.h"
#include "report/text.h"
#include "symbol/symbol.h"
#include "trace/files.h"
#include "trace/usdt.h"

struct listing {
	struct st_table *table;
	ST_VEC(char *) seen; /* files */
	bool no_memory;
};

static bool
is_new_file(struct listing *l, const char *path)
{
	for (size_t i = 0; i < l->seen.n; i++)
		if (!strcmp(l->seen.v[i], path))
			return false;
	char **slot = ST_PUSH(&l->seen), *copy = strdup(path);
	if (slot)
		*slot = copy;
	else
		free(copy);
	l->no_memory |= !slot || !copy;
	return slot && copy;
}

/* The name of the probe that ends what this one begins; NULL: none does. */
static const char *
find_end(const struct st_static_probes *all, const struct st_static_probe *begin)
{
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->v[i].provider, begin->provider) &&
		    st_usdt_is_pair(begin->name, all->v[i].name))
			return all->v[i].name;
	return NULL;
}

static void
list_file(void *arg, const char *path)
{
	struct listing *l = arg;
	struct st_error e;
	struct st_static_probes all = {0};
	struct st_image *image = is_new_file(l, path) ? st_image_open(path, &e) : NULL;
	if (!image)
		return;
	l->no_memory |= st_image_static_probes(image, &all) != ST_OK;
	for (size_t i = 0; i < all.n; i++) {
		const struct st_static_probe *p = &all.v[i];
		const char *end = find_end(&all, p);
		st_table_cell(l->table, "%s:%s", p->provider, p->name);
		st_table_cell(l->table, "%s", end ? end : "");
		st_table_cell(l->table, "0x%" PRIx64, p->address);
		st_table_cell(l->table, p->semaphore ? "0x%" PRIx64 : "-", p->semaphore);
		st_table_cell(l->table, "%s", p->arguments);
		st_table_cell(l->table, "%s", path);
	}
	free(all.v);
	st_image_close(image);
}

static st_status
list_all(struct listing *l, const struct st_trace_arguments *a, struct st_error *e)
{
	char path[PATH_MAX];
	bool by_env;
	if (a->pid)
		return st_trace_files_of_process((pid_t)a->pid, list_file, l)
		               ? ST_OK
		               : st_fail(e, ST_EXIT_NOT_FOUND,
		                         "cannot read the mappings of process %ld: %s", a->pid,
		                         strerror(errno));
	if (st_program_image(a->measure.session.program[0], path, sizeof path, &by_env, e))
		return ST_FAILED;
	st_trace_files_of_program(path, list_file, l);
	return ST_OK;
}

st_status
st_trace_list_usdt(const struct st_trace_arguments *a, struct st_error *e)
{
	static const struct st_table_column columns[] = {{"probe", true},     {"ends with", true},
	                                                 {"address", false},  {"semaphore", false},
	                                                 {"arguments", true}, {"file", true}};
	struct listing l = {.table = st_table_new(columns, sizeof columns / sizeof *columns)};
	st_status status = list_all(&l, a, e);
	struct st_safe safe;
	if (!status && (l.no_memory || !st_safe_begin(&safe, stdout)))
		status = st_fail(e, ST_EXIT_FAILED, "out of memory");
	if (!status) {
		st_table_print(l.table, safe.text.out, st_style_of(stdout));
		st_safe_end(&safe);
	}
	st_table_free(l.table);
	for (size_t i = 0; i < l.seen.n; i++)
		free(l.seen.v[i]);
	free(l.seen.v);
	return status;
}
