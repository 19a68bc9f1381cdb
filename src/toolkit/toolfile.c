/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a tool's file. Any bytes may be in it: every offset is checked before it is followed. */
#include "toolkit/toolfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "toolkit/toolelf.h"

static st_status
toolfile_read_all(const char *path, struct st_tool_bytes *b, struct st_error *e)
{
	enum { MOST = 64 << 20 };
	struct stat st;
	/* O_NONBLOCK: the open of a FIFO must not hang. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error;
	if (fd < 0 || fstat(fd, &st) != 0) {
		error = errno;
		if (fd >= 0)
			close(fd);
		return st_fail(e, ST_EXIT_USAGE, "cannot read the tool %s: %s", path,
		               strerror(error));
	}
	b->n = (size_t)st.st_size;
	error = !S_ISREG(st.st_mode) || b->n > MOST ? EINVAL : 0;
	b->at = error ? NULL : malloc(b->n + 1);
	if (b->at && read(fd, b->at, b->n) != (ssize_t)b->n)
		error = EIO;
	close(fd);
	if (!error && b->at)
		return 0;
	return st_fail(e, ST_EXIT_USAGE, "cannot read the tool %s: %s", path,
	               !error                ? "out of memory"
	               : error == EIO        ? strerror(EIO)
	               : S_ISREG(st.st_mode) ? "it is too large"
	                                     : "it is no plain file");
}

/* ---- the description ---- */

static bool
toolfile_is_name(const char *text)
{
	if (!*text)
		return false;
	for (; *text; text++)
		if (!strchr("_-.", *text) && !(*text >= '0' && *text <= '9') &&
		    !(*text >= 'a' && *text <= 'z') && !(*text >= 'A' && *text <= 'Z'))
			return false;
	return true;
}

bool
st_tool_string(const struct st_tool_file *f, const char **s)
{
	uint64_t at = (uint64_t)*s;
	if (!at) {
		*s = "";
		return true;
	}
	if (at >= f->size || !memchr(f->memory + at, 0, f->size - at))
		return false;
	*s = (const char *)f->memory + at;
	for (const char *c = *s; *c; c++)
		if ((unsigned char)*c < ' ')
			return false;
	return true;
}

static bool
toolfile_take_options(const struct st_tool_file *f, strobe_option *o)
{
	for (size_t i = 0; i < STROBE_MOST_OPTIONS && o[i].name; i++)
		if (!st_tool_string(f, &o[i].name) || !toolfile_is_name(o[i].name) ||
		    !st_tool_string(f, &o[i].value) || !st_tool_string(f, &o[i].help))
			return false;
	return true;
}

static st_status
take_limits(const struct st_tool_file *f, strobe_tool *t, struct st_error *e)
{
	for (size_t i = 0; i < STROBE_MOST_OPTIONS && t->limits[i].option; i++) {
		const char **name = &t->limits[i].option;
		size_t k = 0;
		if (!st_tool_string(f, name))
			return st_tool_damaged(f, "its description is not readable", e);
		while (k < STROBE_MOST_OPTIONS && t->options[k].name &&
		       strcmp(t->options[k].name, *name))
			k++;
		if (k == STROBE_MOST_OPTIONS || !t->options[k].name)
			return st_fail(e, ST_EXIT_USAGE,
			               "the tool %s has limits for '%s', which is none of its "
			               "options",
			               f->path, *name);
	}
	return 0;
}

static st_status
toolfile_describe(struct st_tool_file *f, struct st_error *e)
{
	strobe_tool *t = &f->about;
	uint32_t abi;
	if (f->entry > f->size - sizeof abi)
		return st_tool_damaged(f, "its description is outside of it", e);
	memcpy(&abi, f->memory + f->entry, sizeof abi);
	if (abi != STROBE_ABI)
		return st_fail(e, ST_EXIT_USAGE,
		               "the tool %s was built for version %u of the tool API, this strobe "
		               "has version %d: rebuild it with strobe build-tool",
		               f->path, abi, STROBE_ABI);
	if (f->entry > f->size - sizeof *t)
		return st_tool_damaged(f, "its description is outside of it", e);
	memcpy(t, f->memory + f->entry, sizeof *t);
	if (!st_tool_string(f, &t->name) || !toolfile_is_name(t->name) ||
	    !st_tool_string(f, &t->help) || !toolfile_take_options(f, t->options) ||
	    (t->functions && !st_tool_string(f, &t->functions)))
		return st_tool_damaged(f, "its description is not readable", e);
	return take_limits(f, t, e);
}

/* ---- the whole ---- */

struct st_tool_file *
st_tool_file_read(const char *path, struct st_error *e)
{
	struct st_tool_bytes bytes = {0};
	struct st_tool_file *f = calloc(1, sizeof *f);
	if (!f || !(f->path = strdup(path))) {
		free(f);
		st_cause(e, ST_EXIT_FAILED, "out of memory");
		return NULL;
	}
	int status = toolfile_read_all(path, &bytes, e) || st_tool_elf(f, &bytes, e) ||
	             toolfile_describe(f, e) || st_tool_results(f, &bytes, e);
	if (!status)
		st_tool_symbols(f, &bytes);
	free(bytes.at);
	if (!status)
		return f;
	st_tool_file_free(f);
	return NULL;
}

void
st_tool_file_free(struct st_tool_file *f)
{
	if (!f)
		return;
	free(f->path);
	free(f->memory);
	free(f->fixes);
	free(f->symbols);
	free(f->symbol_names);
	free(f->results);
	free(f->columns);
	free(f);
}

size_t
st_tool_file_results(const struct st_tool_file *f, const struct st_tool_result **results)
{
	*results = f->results;
	return f->n_results;
}

unsigned char *
st_tool_file_place(const struct st_tool_file *f, uint64_t address, uint64_t runtime, size_t *size)
{
	unsigned char *image = malloc(f->size);
	if (!image)
		return NULL;
	memcpy(image, f->memory, f->size);
	for (size_t i = 0; i < f->n_fixes; i++) {
		uint64_t value = f->fixes[i].value + (f->fixes[i].of_runtime ? runtime : address);
		memcpy(image + f->fixes[i].at, &value, sizeof value);
	}
	*size = f->size;
	return image;
}

const strobe_tool *
st_tool_file_about(const struct st_tool_file *f)
{
	return &f->about;
}

const char *
st_tool_file_path(const struct st_tool_file *f)
{
	return f->path;
}

size_t
st_tool_file_parts(const struct st_tool_file *f, const struct st_tool_part **parts)
{
	*parts = f->parts;
	return f->n_parts;
}

const unsigned char *
st_tool_file_memory(const struct st_tool_file *f, size_t *size)
{
	*size = f->size;
	return f->memory;
}

bool
st_tool_file_uses(const struct st_tool_file *f, const char *name)
{
	for (size_t i = 0; i < f->n_fixes; i++)
		if (f->fixes[i].of_runtime && !strcmp(f->fixes[i].of_runtime, name))
			return true;
	return false;
}

uint64_t
st_tool_file_entry(const struct st_tool_file *f)
{
	return f->entry;
}
