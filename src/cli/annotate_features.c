/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe annotate --features: prints the features of functions without a run. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/annotate.h"
#include "cli/annotate_parts.h"
#include "cli/commands.h"
#include "control/program.h"
#include "features/targets.h"
#include "profile/output.h"
#include "report/featuretable.h"
#include "report/json.h"
#include "trace/files.h"

struct listing {
	struct st_annotate_arguments *a;
	struct st_region region;
	json_t *functions;
	struct st_safe safe;
	size_t matched, described;
	bool no_debug_information; /* in an image that has functions of these names */
	const char *bare;          /* such an image */
	bool no_memory;
};

static bool
is_chosen_image(const struct st_annotate_arguments *a, struct listing *l, const char *path)
{
	/* Without -I, libraries are searched only for functions that are named. */
	return a->images.n || a->functions.n ? st_region_chooses_image(&l->region, path)
	                                     : l->region.n_opened == 0;
}

/* The functions of an image, for printing. */
struct listed {
	struct listing *l;
	struct st_image *image;
	const struct st_targets *targets;
};

static void
list_function(void *arg, size_t i, FILE *out, struct st_annotate_found *found)
{
	const struct listed *of = arg;
	struct st_feature_table t;
	struct st_error e;
	if (!st_features_find(&t, of->image, of->targets->entries.v[i], &of->l->a->limits, &e)) {
		found->described++;
		if (of->l->a->json)
			json_array_append_new(of->l->functions, st_features_json(&t));
		else
			st_features_print(&t, st_style_of(stdout), out);
	} else if (t.no_memory) {
		found->no_memory = true;
	} else {
		found->bare = true;
	}
	st_features_free(&t);
}

static void
list_image_functions(struct listing *l, struct st_image *image, const struct st_targets *targets)
{
	struct listed of = {l, image, targets};
	struct st_annotate_found found = {0};
	if (!l->a->json)
		st_annotate_print_parts(targets->entries.n, list_function, &of, l->safe.text.out,
		                        &found);
	else
		for (size_t i = 0; i < targets->entries.n && !found.no_memory; i++)
			list_function(&of, i, NULL, &found);
	l->described += found.described;
	l->no_memory |= found.no_memory;
	if (found.bare && !l->bare)
		l->bare = st_image_path(image);
}

static void
list_image(void *arg, const char *path)
{
	struct listing *l = arg;
	struct st_targets targets = {0};
	for (size_t i = 0; i < l->region.n_opened; i++)
		if (!strcmp(l->region.opened[i].path, path))
			return;
	if (!is_chosen_image(l->a, l, path))
		return;
	struct st_image *image = st_region_image(&l->region, path);
	for (size_t i = 0; image && i < l->a->functions.n; i++)
		l->no_memory |= st_targets_find(&targets, image, l->a->functions.text[i]) != ST_OK;
	if (image && !l->a->functions.n)
		l->no_memory |= st_targets_find(&targets, image, "*") != ST_OK;
	l->matched += targets.entries.n;
	if (!l->no_memory)
		list_image_functions(l, image, &targets);
	st_targets_free(&targets);
}

/* ---- Causes of an empty list ---- */

static st_status
complain_of_nothing(struct listing *l, const char *program, struct st_error *e)
{
	struct st_inlined_note note = {0};
	const char *name = l->a->functions.n ? l->a->functions.text[0] : "*";
	if (l->bare)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s has no debug information of '%s': compile it with -g, or "
		               "install its package of debug files (-dbgsym)",
		               l->bare, name);
	for (size_t i = 0; i < l->region.n_opened && l->a->functions.n; i++)
		st_inlined_note_take(&note, l->region.opened[i].image, name);
	return st_targets_missing(&note, program, name, e);
}

static st_status
finish_listing(struct listing *l, struct st_error *e)
{
	char *text = NULL;
	if (l->a->json) {
		json_t *root =
		        json_pack("{s:{s:i, s:s}, s:O}", "strobe", "version", ST_JSON_VERSION,
		                  "tool", "features", "functions", l->functions);
		text = st_json_document(root, JSON_INDENT(1), "the features", e);
		if (!text)
			return ST_FAILED;
		st_print_json_safely(stdout, text);
		free(text);
	} else {
		st_safe_end(&l->safe);
	}
	return st_output_flush(e);
}

/* Finds PROGRAM. It is not run, so that a file without execute permission is accepted, too: many
 * libraries have none. */
static st_status
find_features_file(const char *name, char *path, size_t size, struct st_error *e)
{
	struct stat st;
	if (!strchr(name, '/') || !access(name, X_OK) || stat(name, &st) || !S_ISREG(st.st_mode))
		return st_program_find(name, path, size, e);
	struct st_image *image = st_image_open(name, e);
	if (!image)
		return ST_FAILED;
	st_image_close(image);
	return (size_t)snprintf(path, size, "%s", name) < size
	               ? ST_OK
	               : st_fail(e, ST_EXIT_FAILED, "the path %s is too long", name);
}

st_status
st_annotate_features(struct st_annotate_arguments *a, struct st_error *e)
{
	char path[4096];
	struct listing l = {.a = a, .region = {.images = a->images}};
	if (find_features_file(a->program[0], path, sizeof path, e))
		return ST_FAILED;
	l.functions = json_array();
	if (!l.functions || !st_safe_begin(&l.safe, stdout))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the features");
	st_trace_files_of_program(path, list_image, &l);
	st_status status = ST_OK;
	if (l.no_memory)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the features");
	else if (!l.described)
		status = complain_of_nothing(&l, a->program[0], e);
	else
		status = finish_listing(&l, e);
	if (status || a->json)
		free(st_text_end(&l.safe.text));
	json_decref(l.functions);
	l.region.images = (struct st_patterns){0};
	st_region_free(&l.region);
	return status;
}
