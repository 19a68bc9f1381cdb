/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of functions, source files and images that fitted nothing, and what may have been meant.
 * Looked for only when a run is over and it is known that it is needed: a program may have a
 * million names. */
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "session/region.h"

struct st_nearest_few
st_region_near(const char *word)
{
	struct st_nearest_few near = st_nearest_few_to(word);
	near.distance = strlen(word) / 4 + 2;
	return near;
}

void
st_region_try_functions(const struct st_region *r, const struct st_file_pattern *file,
                        struct st_nearest_few *near)
{
	bool arguments = strchr(near->word, '(') != NULL;
	for (size_t i = 0; i < r->n_opened; i++) {
		size_t n = 0;
		struct st_image *image = r->opened[i].image;
		const struct st_symbol *s = image ? st_image_symbols(image, &n) : NULL;
		for (size_t k = 0; k < n; k++) {
			const char *name = arguments ? s[k].name : s[k].plain;
			const char *source = file ? st_image_source(image, &s[k]) : NULL;
			if (!file || (source && st_file_fits(file, source)))
				st_nearest_few_try(near, name, strlen(name));
		}
	}
}

/* The end of a path with as many slashes as the word has. */
static const char *
end_like(const char *path, const char *word)
{
	const char *at = path + strlen(path);
	size_t n = 1;
	for (; *word; word++)
		n += *word == '/';
	while (at > path && (at[-1] != '/' || --n))
		at--;
	return at;
}

/* True: a function is in such a file. */
static bool
try_files(const struct st_region *r, const struct st_file_pattern *file,
          struct st_nearest_few *near)
{
	bool fits = false;
	for (size_t i = 0; i < r->n_opened; i++) {
		size_t n = 0;
		struct st_image *image = r->opened[i].image;
		const struct st_symbol *s = image ? st_image_symbols(image, &n) : NULL;
		const char *last = NULL;
		for (size_t k = 0; k < n; k++) {
			const char *source = st_image_source(image, &s[k]);
			if (!source || (last && !strcmp(source, last)))
				continue;
			last = source;
			const char *end = end_like(source, near->word);
			fits |= st_file_fits(file, source);
			st_nearest_few_try(near, end, strlen(end));
		}
	}
	return fits;
}

static void
try_images(const struct st_region *r, struct st_nearest_few *near)
{
	bool whole = strchr(near->word, '/') != NULL;
	for (size_t i = 0; i < r->n_opened; i++) {
		const char *name = whole ? r->opened[i].path : st_base_name(r->opened[i].path);
		st_nearest_few_try(near, name, strlen(name));
	}
}

static bool
is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

static void
note_image(const struct st_region *r, const char *text, struct st_profile *p)
{
	struct st_nearest_few near = st_nearest_few_to(text);
	char question[512];
	if (!is_pattern(text))
		try_images(r, &near);
	st_profile_note(p, "--images %s: no image of that name was loaded%s", text,
	                st_nearest_question(&near, question, sizeof question));
}

static void
note_function(const struct st_region *r, const char *option, const char *text, struct st_profile *p)
{
	struct st_nearest_few near = st_region_near(text);
	char question[512];
	if (!is_pattern(text))
		st_region_try_functions(r, NULL, &near);
	st_profile_note(p, "--%s %s: no function of that name was loaded%s", option, text,
	                st_nearest_question(&near, question, sizeof question));
}

static void
note_file(const struct st_region *r, const char *option, const char *text,
          const struct st_file_pattern *file, struct st_profile *p)
{
	struct st_nearest_few near = st_region_near(file->file), names = st_region_near(file->name);
	char question[512];
	if (!try_files(r, file, &near)) {
		if (is_pattern(file->file))
			near.n = 0;
		st_profile_note(
		        p, "--%s %s: no function of a source file of that name was loaded%s",
		        option, text, st_nearest_question(&near, question, sizeof question));
		return;
	}
	if (!is_pattern(file->name))
		st_region_try_functions(r, file, &names);
	st_profile_note(p, "--%s %s: no function of that name is in the source file%s", option,
	                text, st_nearest_question(&names, question, sizeof question));
}

/* True: one of them was for source files. */
static bool
note_functions(const struct st_region *r, const struct st_patterns *patterns, const char *option,
               struct st_profile *p)
{
	struct st_file_pattern file;
	bool files = false;
	for (size_t i = 0; i < patterns->n; i++) {
		if (patterns->matched[i])
			continue;
		if (st_file_pattern(patterns->text[i], &file)) {
			note_file(r, option, patterns->text[i], &file, p);
			files = true;
		} else {
			note_function(r, option, patterns->text[i], p);
		}
	}
	return files;
}

/* Notes functions whose source files are unknown. */
static void
note_no_sources(const struct st_region *r, struct st_profile *p)
{
	enum { MOST = 4 };
	char names[256] = "";
	size_t n = 0;
	for (size_t i = 0; i < r->n_opened; i++) {
		struct st_image *image = r->opened[i].image;
		if (!image || *r->opened[i].path != '/' ||
		    !strcmp(st_image_quality(image), "full") || n++ >= MOST)
			continue;
		st_append(names, sizeof names, "%s%s", n > 1 ? ", " : "",
		          st_base_name(r->opened[i].path));
	}
	if (n)
		st_profile_note(p,
		                "source files are known only from debug information (compile with "
		                "-g), and these files have none: %s%s",
		                names, n > MOST ? ", ..." : "");
}

static bool
region_see_function(const struct st_symbol *symbol, void *matched)
{
	(void)symbol;
	++*(uint64_t *)matched;
	return false; /* one is enough */
}

/* Functions that only a tool looks for are not counted while the program runs. */
static void
count_in_images(const struct st_region *r, struct st_patterns *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < r->n_opened && !p->matched[i]; k++)
			if (r->opened[k].image)
				ST_IGNORE(st_image_match(r->opened[k].image, p->text[i],
				                         region_see_function, &p->matched[i]));
}

void
st_region_note_unknown(struct st_region *r, struct st_profile *p)
{
	count_in_images(r, &r->scope);
	count_in_images(r, &r->excluded);
	bool files = note_functions(r, &r->start_at, "start-at", p);
	files |= note_functions(r, &r->stop_at, "stop-at", p);
	files |= note_functions(r, &r->functions, "funcs", p);
	files |= note_functions(r, &r->scope, "main", p);
	files |= note_functions(r, &r->excluded, "exclude", p);
	for (size_t i = 0; i < r->images.n; i++)
		if (!r->images.matched[i])
			note_image(r, r->images.text[i], p);
	if (files)
		note_no_sources(r, p);
}
