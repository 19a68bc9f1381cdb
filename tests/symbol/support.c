/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support.h"

#include <limits.h>
#include <unistd.h>

const char *samples;

void
use_samples(int argc, char **argv)
{
	samples = argc > 1 ? realpath(argv[1], NULL) : NULL;
	if (!samples) {
		fprintf(stderr, "usage: %s DIRECTORY that samples.sh filled\n", argv[0]);
		exit(2);
	}
	/* Debug files installed on this machine must not change what the samples show. */
	setenv("STROBE_DEBUG_DIRECTORY", "/nonexistent", 1);
}

const char *
sample(const char *name)
{
	static char paths[4][PATH_MAX];
	static int next;
	char *path = paths[next++ % 4];
	snprintf(path, PATH_MAX, "%s/%s", samples, name);
	return path;
}

bool
sample_exists(const char *name)
{
	return access(sample(name), R_OK) == 0;
}

struct st_image *
open_sample(const char *name)
{
	struct st_error e = {0};
	struct st_image *image = st_image_open(sample(name), &e);
	if (!image)
		fail_msg("%s: %s", name, e.text);
	return image;
}

struct output
run(const char *format, ...)
{
	struct output output = {0};
	char *command, *line = NULL;
	size_t room = 0;
	ssize_t n;
	va_list ap;

	va_start(ap, format);
	assert_true(vasprintf(&command, format, ap) > 0);
	va_end(ap);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	while ((n = getline(&line, &room, pipe)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		output.line = reallocarray(output.line, output.n + 1, sizeof *output.line);
		output.line[output.n++] = strdup(line);
	}
	free(line);
	if (pclose(pipe) != 0)
		fail_msg("%s failed", command);
	free(command);
	return output;
}

void
output_free(struct output *output)
{
	for (size_t i = 0; i < output->n; i++)
		free(output->line[i]);
	free(output->line);
	*output = (struct output){0};
}

/* The demangled name without the version; operators may hold spaces but no @. */
static char *
without_version(const char *name)
{
	return strndup(name, strcspn(name, "@"));
}

static bool
parse(const char *line, struct nm_symbol *symbol, const char **name)
{
	int at = 0;
	if (sscanf(line, "%lx %lx %c %n", &symbol->address, &symbol->size, &symbol->type, &at) !=
	    3) {
		symbol->size = 0;
		if (sscanf(line, "%lx %c %n", &symbol->address, &symbol->type, &at) != 2)
			return false;
	}
	*name = line + at;
	return at && strchr("tTwWi", symbol->type) && (*name)[0];
}

/* The executable sections: weak data has the letter of weak functions. */
static struct output
executable_sections(const char *path)
{
	return run("readelf -SW '%s' | sed 's/^ *\\[ *[0-9]*\\] *//' |"
	           "awk '$7 ~ /X/ {print $3, $5}'",
	           path);
}

static bool
in_sections(const struct output *sections, uint64_t address)
{
	for (size_t i = 0; i < sections->n; i++) {
		uint64_t start, size;
		assert_int_equal(sscanf(sections->line[i], "%lx %lx", &start, &size), 2);
		if (address >= start && address - start < size)
			return true;
	}
	return false;
}

/* nm's letter for an IFUNC does not tell whether it is weak or local. */
static void
mark_binding(const char *path, const char *options, struct nm_symbols *symbols)
{
	struct output bound = run("readelf %s -W '%s' | awk '$5 ~ /WEAK|LOCAL/ {print $2, $8, $5}'",
	                          *options ? "--dyn-syms" : "-s", path);
	for (size_t i = 0; i < bound.n; i++) {
		char name[4096], binding[8];
		uint64_t address;
		if (sscanf(bound.line[i], "%lx %4095s %7s", &address, name, binding) != 3)
			continue;
		for (size_t j = 0; j < symbols->n; j++) {
			struct nm_symbol *s = &symbols->v[j];
			if (s->address != address || strcmp(s->raw, name) != 0)
				continue;
			s->weak |= binding[0] == 'W';
			s->local |= binding[0] == 'L';
		}
	}
	output_free(&bound);
}

struct nm_symbols
nm_code(const char *path, const char *options)
{
	/* -n orders by address, and both runs in the same way. Weak data has other letters. */
	struct output raw = run("nm -n -S --defined-only %s '%s'", options, path);
	struct output plain = run("nm -C -n -S --defined-only %s '%s'", options, path);
	struct output sections = executable_sections(path);
	struct nm_symbols symbols = {calloc(raw.n + 1, sizeof *symbols.v), 0};

	assert_int_equal(raw.n, plain.n);
	for (size_t i = 0; i < raw.n; i++) {
		struct nm_symbol symbol = {0};
		const char *name;
		if (!parse(plain.line[i], &symbol, &name) ||
		    !in_sections(&sections, symbol.address))
			continue;
		symbol.plain = without_version(name);
		assert_true(parse(raw.line[i], &symbol, &name));
		symbol.raw = strdup(name);
		symbols.v[symbols.n++] = symbol;
	}
	mark_binding(path, options, &symbols);
	output_free(&raw);
	output_free(&plain);
	output_free(&sections);
	return symbols;
}

void
nm_free(struct nm_symbols *symbols)
{
	for (size_t i = 0; i < symbols->n; i++) {
		free(symbols->v[i].raw);
		free(symbols->v[i].plain);
	}
	free(symbols->v);
}

const struct st_function *
function_named(struct st_image *image, const char *name)
{
	size_t n;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(f[i].name, name))
			return &f[i];
	fail_msg("%s has no function %s", st_image_path(image), name);
	return NULL;
}

void
check_table(struct st_image *image)
{
	size_t n;
	uint64_t end = 0;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++) {
		assert_true(f[i].offset >= end);
		assert_true(f[i].size > 0 && f[i].offset + f[i].size > f[i].offset);
		assert_non_null(f[i].name);
		assert_true(f[i].name[0] && f[i].raw_name[0]);
		end = f[i].offset + f[i].size;
		assert_ptr_equal(st_image_function(image, f[i].offset), &f[i]);
		assert_ptr_equal(st_image_function(image, end - 1), &f[i]);
		if (i + 1 == n || f[i + 1].offset > end)
			assert_null(st_image_function(image, end));
	}
	if (n)
		assert_null(st_image_function(image, f[0].offset - 1));
	assert_null(st_image_function(image, UINT64_MAX));
}
