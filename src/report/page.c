/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page as a file: the two halves that web/ was made into, and the data between them. */
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

#include "profile/output.h"

extern const char st_page_head[], st_page_tail[], st_page_problem[];
extern const uint64_t st_page_head_size, st_page_tail_size;

const char *
st_page_missing(void)
{
	return *st_page_problem ? st_page_problem : NULL;
}

/* JSON that can stand in a script element: of all that could end one, < is enough, and it occurs
 * in texts only. malloc'ed; NULL: no memory. */
static char *
without_tags(const char *json, size_t *length)
{
	size_t tags = 0;
	for (const char *c = json; (c = strchr(c, '<')); c++)
		tags++;
	char *text = malloc(strlen(json) + 5 * tags + 1), *to = text;
	for (const char *c = json; text && *c; c++) {
		if (*c == '<')
			to = stpcpy(to, "\\u003c");
		else
			*to++ = *c;
	}
	*length = text ? (size_t)(to - text) : 0;
	return text;
}

/* Into standard output where path is "-". */
static st_status
write_parts(const char *path, const char *const *parts, const size_t *lengths, size_t n,
            struct st_error *e)
{
	struct st_output o;
	bool direct = !strcmp(path, "-");
	if (!direct && st_output_begin(&o, path, e))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (direct && fwrite(parts[i], 1, lengths[i], stdout) < lengths[i])
			break;
		if (!direct && st_output_write(&o, parts[i], lengths[i], e)) {
			st_output_abandon(&o);
			return -1;
		}
	}
	if (!direct)
		return st_output_commit(&o, e);
	return st_output_flush(e);
}

st_status
st_page_write(json_t *page, const char *path, struct st_error *e)
{
	size_t length = 0;
	char *json = json_dumps(page, JSON_COMPACT | JSON_REAL_PRECISION(9));
	char *data = json ? without_tags(json, &length) : NULL;
	free(json);
	if (!data)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to write the page");
	const char *const parts[] = {st_page_head, data, st_page_tail};
	const size_t lengths[] = {st_page_head_size, length, st_page_tail_size};
	int status = write_parts(path, parts, lengths, 3, e);
	free(data);
	return status;
}
