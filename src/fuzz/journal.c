/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const ends[] = {"exit", "signal", "hang"};

static st_status
journal_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the journal of the campaign");
}

/* ---- the file ---- */

static int
read_journal_result(void *arg, size_t variant, size_t repetition, const char *result,
                    struct st_error *e)
{
	struct st_fuzz_journal *j = arg;
	if (variant != j->lines.n || repetition)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "the journal %s is damaged: it has execution %zu where execution %zu "
		        "is expected",
		        j->path, variant, j->lines.n);
	char **new = ST_PUSH(&j->lines);
	if (!new || !(*new = strdup(result)))
		return journal_memory(e);
	return 0;
}

/* A journal that was made just now must not be read back. */
static int
no_result(void *arg, size_t variant, size_t repetition, const char *result, struct st_error *e)
{
	const struct st_fuzz_journal *j = arg;
	(void)variant, (void)repetition, (void)result;
	return st_fail(e, ST_EXIT_FAILED, "%s exists already: name another folder with -o",
	               j->path);
}

st_status
st_fuzz_journal_open(struct st_fuzz_journal *j, const char *path, const char *identity,
                     struct st_error *e)
{
	const bool begun = j->lines.n > 0;
	j->path = strdup(path);
	if (!j->path)
		return journal_memory(e);
	if (st_fuzz_identity_check(j->path, identity, e) ||
	    st_journal_open(&j->file, j->path, identity, begun ? no_result : read_journal_result, j,
	                    e))
		return ST_FAILED;
	/* An execution that is lost when the machine fails is executed again. */
	j->file.unsynced = true;
	j->file.proceed = "continue with --resume";
	j->open = true;
	if (!begun)
		j->n_read = j->lines.n;
	for (size_t i = j->n_read; i < j->lines.n; i++)
		if (st_journal_add(&j->file, i, 0, j->lines.v[i], e))
			return ST_FAILED;
	return ST_OK;
}

void
st_fuzz_journal_close(struct st_fuzz_journal *j)
{
	if (j->open)
		st_journal_close(&j->file);
	for (size_t i = 0; i < j->lines.n; i++)
		free(j->lines.v[i]);
	free(j->lines.v);
	free(j->path);
	*j = (struct st_fuzz_journal){0};
}

bool
st_fuzz_journal_has(const struct st_fuzz_journal *j, size_t number)
{
	return number < j->n_read;
}

/* ---- writing ---- */

static bool
must_escape(char c)
{
	return (unsigned char)c <= ' ' || c == '%' || c == 0x7f;
}

void
st_fuzz_write_escaped(const char *text, FILE *out)
{
	for (; *text; text++)
		if (must_escape(*text))
			fprintf(out, "%%%02X", (unsigned char)*text);
		else
			fputc(*text, out);
}

static void
write_new_places(const struct st_fuzz_journal *j, const struct st_fuzz_places *places,
                 const struct st_fuzz_execution *x, FILE *out)
{
	for (size_t i = 0; i < x->counts.n; i++) {
		const struct st_fuzz_count *count = &x->counts.v[i];
		const struct st_fuzz_place *place = &places->list.v[count->place];
		if (count->place >= j->n_places)
			fprintf(out, " %" PRIu32 ":%" PRIx64 "=%" PRIu64, place->image,
			        place->offset, count->times);
	}
}

static int
by_edge(const void *x, const void *y)
{
	const struct st_fuzz_edge_count *a = x, *b = y;
	return (a->edge > b->edge) - (a->edge < b->edge);
}

/* Those that are new, or taken more often than in all executions before, in order; malloc'ed, NULL:
 * no memory. */
static struct st_fuzz_edge_count *
find_raised_edges(const struct st_fuzz_journal *j, const struct st_fuzz_map *map,
                  const struct st_fuzz_execution *x, size_t *n)
{
	struct st_fuzz_edge_count *raised = malloc((x->edges.n + 1) * sizeof *raised);
	*n = 0;
	for (size_t i = 0; i < x->edges.n && raised; i++) {
		const struct st_fuzz_edge_count *count = &x->edges.v[i];
		const uint64_t most = count->edge < map->most.n ? map->most.v[count->edge] : 0;
		if (count->edge >= j->n_edges || (x->end == ST_END_EXIT && count->times > most))
			raised[(*n)++] = *count;
	}
	if (*n)
		qsort(raised, *n, sizeof *raised, by_edge);
	return raised;
}

static void
write_edge_count(const struct st_fuzz_journal *j, const struct st_fuzz_places *places,
                 const struct st_fuzz_edge_count *count, FILE *out)
{
	const struct st_fuzz_edge *edge = &places->edges.v[count->edge];
	if (count->edge < j->n_edges)
		fprintf(out, " %" PRIu32 "=%" PRIu64, count->edge, count->times);
	else
		fprintf(out, " +%" PRIu32 ":%" PRIx64 ":%" PRIu32 ":%" PRIx64 "=%" PRIu64,
		        edge->from.image, edge->from.offset, edge->to.image, edge->to.offset,
		        count->times);
}

static st_status
write_raised_edges(const struct st_fuzz_journal *j, const struct st_fuzz_places *places,
                   const struct st_fuzz_map *map, const struct st_fuzz_execution *x, FILE *out)
{
	size_t n;
	struct st_fuzz_edge_count *raised = find_raised_edges(j, map, x, &n);
	for (size_t i = 0; i < n; i++)
		write_edge_count(j, places, &raised[i], out);
	free(raised);
	return raised ? ST_OK : ST_FAILED;
}

static void
write_call_paths(const struct st_fuzz_journal *j, const struct st_fuzz_places *places,
                 const struct st_fuzz_execution *x, bool with_paths, FILE *out)
{
	for (size_t i = j->n_paths; i < places->paths.n; i++) {
		const struct st_fuzz_path *p = &places->paths.v[i];
		fprintf(out, " >%" PRIu32 ":%" PRIu32 ":%" PRIx64, p->parent + 1, p->function.image,
		        p->function.offset);
	}
	const struct st_fuzz_growth *g = &x->growth;
	if (x->paths.n && x->end == ST_END_EXIT)
		fprintf(out, " ~%.17g,%.17g,%.17g,%" PRIu32, g->most, g->score, g->beyond, g->path);
	for (size_t i = 0; i < x->paths.n && with_paths; i++)
		fprintf(out, " /%" PRIu32 "=%" PRIu64 ",%" PRIu64, x->paths.v[i].path,
		        x->paths.v[i].calls, x->paths.v[i].instructions);
}

static char *
result_text(const struct st_fuzz_journal *j, const struct st_fuzz_places *places,
            const struct st_fuzz_map *map, const struct st_fuzz_execution *x, bool with_paths,
            double seconds)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	fprintf(out, "%s %d %" PRIu64 " %.3f", ends[x->end], x->code, x->work, seconds);
	for (size_t i = j->n_images; i < places->images.n; i++) {
		fputs(" @", out);
		st_fuzz_write_escaped(places->images.v[i], out);
	}
	write_new_places(j, places, x, out);
	const st_status status = write_raised_edges(j, places, map, x, out);
	write_call_paths(j, places, x, with_paths, out);
	if (!fclose(out) && !status)
		return text;
	free(text);
	return NULL;
}

st_status
st_fuzz_journal_add(struct st_fuzz_journal *j, size_t number, const struct st_fuzz_places *places,
                    const struct st_fuzz_map *map, const struct st_fuzz_execution *x,
                    bool with_paths, double seconds, struct st_error *e)
{
	char *text = result_text(j, places, map, x, with_paths, seconds);
	st_status status = text ? ST_OK : journal_memory(e);
	j->n_images = places->images.n;
	j->n_places = places->list.n;
	j->n_edges = places->edges.n;
	j->n_paths = places->paths.n;
	if (!status && j->open) {
		status = st_journal_add(&j->file, number, 0, text, e);
	} else if (!status) {
		char **new = ST_PUSH(&j->lines);
		if (new)
			*new = text;
		else
			status = journal_memory(e);
		text = new ? NULL : text;
	}
	free(text);
	return status;
}

/* ---- reading ---- */

static int
digit_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* In place. False: a percent sign is not followed by two digits, or the path is none. */
static bool
unescape_path(char *text)
{
	char *to = text;
	for (const char *at = text; *at; at++) {
		if (*at == '%') {
			if (digit_value(at[1]) < 0 || digit_value(at[2]) < 0)
				return false;
			*to++ = (char)(digit_value(at[1]) * 16 + digit_value(at[2]));
			at += 2;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
	return strlen(text) == (size_t)(to - text) && *text == '/';
}

/* A number that ends with `end`; *at is set behind that. */
static bool
take_record_number(const char **at, int base, char end, uint64_t *number)
{
	char *behind;
	if (base == 10 ? **at < '0' || **at > '9' : !strchr("0123456789abcdef", **at) || !**at)
		return false;
	errno = 0;
	*number = strtoull(*at, &behind, base);
	if (errno || *behind != end)
		return false;
	*at = behind + (end != '\0');
	return true;
}

static bool
parse_image(char *text, struct st_fuzz_places *places)
{
	char **new = unescape_path(text) ? ST_PUSH(&places->images) : NULL;
	if (!new)
		return false;
	*new = strdup(text);
	places->images.n -= *new == NULL;
	return *new != NULL;
}

static bool
parse_new_place(const char *text, struct st_fuzz_places *places, struct st_fuzz_execution *out)
{
	uint64_t image, offset, times;
	if (!take_record_number(&text, 10, ':', &image) ||
	    !take_record_number(&text, 16, '=', &offset) ||
	    !take_record_number(&text, 10, '\0', &times) || image >= places->images.n)
		return false;
	const size_t n = places->list.n;
	if (st_fuzz_place_number(places, (uint32_t)image, offset) != n)
		return false; /* it was there already, or no memory is left */
	struct st_fuzz_count *count = ST_PUSH(&out->counts);
	if (count)
		*count = (struct st_fuzz_count){(uint32_t)n, times};
	return count != NULL;
}

static bool
take_edge_count(struct st_fuzz_execution *out, uint64_t edge, uint64_t times)
{
	struct st_fuzz_edge_count *count = ST_PUSH(&out->edges);
	if (count)
		*count = (struct st_fuzz_edge_count){(uint32_t)edge, times};
	return count != NULL;
}

static bool
parse_new_edge(const char *text, struct st_fuzz_places *places, struct st_fuzz_execution *out)
{
	uint64_t from, from_offset, to, to_offset, times;
	if (!take_record_number(&text, 10, ':', &from) ||
	    !take_record_number(&text, 16, ':', &from_offset) ||
	    !take_record_number(&text, 10, ':', &to) ||
	    !take_record_number(&text, 16, '=', &to_offset) ||
	    !take_record_number(&text, 10, '\0', &times) || from >= places->images.n ||
	    to >= places->images.n)
		return false;
	const struct st_fuzz_edge edge = {{(uint32_t)from, from_offset}, {(uint32_t)to, to_offset}};
	const size_t n = places->edges.n;
	return st_fuzz_edge_number(places, edge) == n && take_edge_count(out, n, times);
}

static bool
parse_edge_count(const char *text, const struct st_fuzz_places *places,
                 struct st_fuzz_execution *out)
{
	uint64_t edge, times;
	return take_record_number(&text, 10, '=', &edge) &&
	       take_record_number(&text, 10, '\0', &times) && edge < places->edges.n &&
	       take_edge_count(out, edge, times);
}

static bool
parse_new_path(const char *text, struct st_fuzz_places *places)
{
	uint64_t parent, image, offset;
	if (!take_record_number(&text, 10, ':', &parent) ||
	    !take_record_number(&text, 10, ':', &image) ||
	    !take_record_number(&text, 16, '\0', &offset) || parent > places->paths.n ||
	    image >= places->images.n)
		return false;
	const struct st_fuzz_path path = {(uint32_t)parent - 1, {(uint32_t)image, offset}};
	const size_t n = places->paths.n;
	return st_fuzz_path_number(places, path) == n; /* else it was there already */
}

static bool
parse_growth(const char *text, const struct st_fuzz_places *places, struct st_fuzz_growth *out)
{
	double *const numbers[] = {&out->most, &out->score, &out->beyond};
	uint64_t path;
	char *behind;
	for (size_t i = 0; i < 3; i++) {
		*numbers[i] = strtod(text, &behind);
		if (behind == text || *behind != ',' || !(*numbers[i] >= 0))
			return false;
		text = behind + 1;
	}
	if (!take_record_number(&text, 10, '\0', &path) || path >= places->paths.n)
		return false;
	out->path = (uint32_t)path;
	return true;
}

static bool
parse_path_count(const char *text, const struct st_fuzz_places *places,
                 struct st_fuzz_path_counts *out)
{
	uint64_t path, calls, instructions;
	if (!take_record_number(&text, 10, '=', &path) ||
	    !take_record_number(&text, 10, ',', &calls) ||
	    !take_record_number(&text, 10, '\0', &instructions) || path >= places->paths.n ||
	    (out->n && path <= out->v[out->n - 1].path))
		return false;
	struct st_fuzz_path_count *new = ST_PUSH(out);
	if (new)
		*new = (struct st_fuzz_path_count){(uint32_t)path, calls, instructions};
	return new != NULL;
}

static bool
parse_result_word(char *word, struct st_fuzz_places *places, struct st_fuzz_execution *out)
{
	switch (*word) {
	case '@':
		return parse_image(word + 1, places);
	case '>':
		return parse_new_path(word + 1, places);
	case '~':
		return parse_growth(word + 1, places, &out->growth);
	case '/':
		return parse_path_count(word + 1, places, &out->paths);
	case '+':
		return parse_new_edge(word + 1, places, out);
	default:
		return strchr(word, ':') ? parse_new_place(word, places, out)
		                         : parse_edge_count(word, places, out);
	}
}

static bool
parse_head(char **rest, struct st_fuzz_execution *out, double *seconds)
{
	const char *end = strsep(rest, " "), *code = strsep(rest, " "), *work = strsep(rest, " "),
	           *when = strsep(rest, " ");
	uint64_t number;
	char *behind;
	size_t i = 0;
	while (i < sizeof ends / sizeof *ends && strcmp(end, ends[i]) != 0)
		i++;
	if (!when || i == sizeof ends / sizeof *ends ||
	    !take_record_number(&code, 10, '\0', &number) || number > 255 ||
	    !take_record_number(&work, 10, '\0', &out->work))
		return false;
	out->end = (enum st_fuzz_end)i;
	out->code = (int)number;
	*seconds = strtod(when, &behind);
	return behind != when && !*behind && *seconds >= 0 && *seconds < 1e12;
}

static bool
parse_result(char *text, struct st_fuzz_places *places, struct st_fuzz_execution *out,
             double *seconds)
{
	char *rest = text;
	if (!parse_head(&rest, out, seconds))
		return false;
	for (char *word; (word = strsep(&rest, " "));)
		if (!parse_result_word(word, places, out))
			return false;
	return true;
}

st_status
st_fuzz_journal_take(struct st_fuzz_journal *j, size_t number, struct st_fuzz_places *places,
                     struct st_fuzz_execution *out, double *seconds, struct st_error *e)
{
	char *text = j->lines.v[number];
	out->counts.n = 0;
	out->edges.n = 0;
	out->paths.n = 0;
	out->growth = (struct st_fuzz_growth){0};
	const bool good = text && parse_result(text, places, out, seconds);
	free(text);
	j->lines.v[number] = NULL;
	j->n_images = places->images.n;
	j->n_places = places->list.n;
	j->n_edges = places->edges.n;
	j->n_paths = places->paths.n;
	return good ? ST_OK
	            : st_fail(e, ST_EXIT_FAILED,
	                      "the journal %s is damaged in execution %zu: begin another "
	                      "campaign with the folder's results as seeds (-s)",
	                      j->path, number);
}
