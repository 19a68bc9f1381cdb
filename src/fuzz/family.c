/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/family.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_TOKEN = 64, SINGLE_STEPS = 12, SHORTER = 8 };

struct repetition {
	size_t from, length, times;
};

/* Finds the longest run in which each byte equals the one `length` bytes before it. */
static void
look_for_period(const struct st_fuzz_bytes *b, size_t length, struct repetition *best)
{
	size_t run = 0;
	for (size_t i = length; i <= b->n; i++) {
		if (i < b->n && b->v[i] == b->v[i - length]) {
			run++;
			continue;
		}
		size_t times = run / length + 1, covered = times * length;
		if (times >= 2 && covered > best->times * best->length)
			*best = (struct repetition){i - run - length, length, times};
		run = 0;
	}
}

st_status
st_fuzz_family_find(struct st_fuzz_family *f, const struct st_fuzz_bytes *b)
{
	struct repetition best = {0, 0, 0};
	*f = (struct st_fuzz_family){0};
	for (size_t length = 1; length <= LONGEST_TOKEN && length * 2 <= b->n; length++)
		look_for_period(b, length, &best);
	/* Repetitions of less than half of the input may be coincidence. */
	f->repeated = best.times > 1 && best.times * best.length * 2 >= b->n;
	if (!f->repeated)
		best = (struct repetition){0, b->n, 1};
	f->times = best.times;
	const size_t behind = best.from + best.length * best.times;
	return st_fuzz_bytes_splice(&f->before, 0, 0, b->v, best.from) ||
	                       st_fuzz_bytes_splice(&f->token, 0, 0, b->v + best.from,
	                                            best.length) ||
	                       st_fuzz_bytes_splice(&f->behind, 0, 0, b->v + behind, b->n - behind)
	               ? ST_FAILED
	               : ST_OK;
}

st_status
st_fuzz_family_whole(struct st_fuzz_family *f, const struct st_fuzz_bytes *b)
{
	*f = (struct st_fuzz_family){.times = 1};
	return st_fuzz_bytes_copy(&f->token, b);
}

void
st_fuzz_family_free(struct st_fuzz_family *f)
{
	st_fuzz_bytes_free(&f->before);
	st_fuzz_bytes_free(&f->token);
	st_fuzz_bytes_free(&f->behind);
}

/* The number of letters or digits of the byte's kind, and the first of them. */
static size_t
kind_of_byte(uint8_t byte, uint8_t *first)
{
	*first = isdigit(byte) ? '0' : isupper(byte) ? 'A' : 'a';
	return isdigit(byte) ? 10 : 26;
}

size_t
st_fuzz_family_most(const struct st_fuzz_family *f)
{
	size_t most = 1;
	uint8_t first;
	for (size_t i = 0; i < f->n_varied; i++)
		most *= kind_of_byte(f->token.v[f->varied[i]], &first);
	return f->n_varied ? most : SIZE_MAX;
}

/* Writes the number into the positions of the token that count. */
static void
write_number(const struct st_fuzz_family *f, size_t number, uint8_t *token)
{
	for (size_t i = 0; i < f->n_varied; i++) {
		uint8_t first;
		const size_t kinds = kind_of_byte(f->token.v[f->varied[i]], &first);
		token[f->varied[i]] = (uint8_t)(first + number % kinds);
		number /= kinds;
	}
}

st_status
st_fuzz_family_make(const struct st_fuzz_family *f, size_t times, struct st_fuzz_bytes *out)
{
	if (st_fuzz_bytes_copy(out, &f->before))
		return ST_FAILED;
	for (size_t i = 0; i < times; i++) {
		if (st_fuzz_bytes_splice(out, out->n, 0, f->token.v, f->token.n))
			return ST_FAILED;
		if (f->n_varied)
			write_number(f, i, out->v + out->n - f->token.n);
	}
	return st_fuzz_bytes_splice(out, out->n, 0, f->behind.v, f->behind.n);
}

bool
st_fuzz_family_shorten(struct st_fuzz_family *f)
{
	if (f->repeated || f->token.n <= LONGEST_TOKEN)
		return false;
	const size_t half = (f->token.n + 2 * SHORTER - 1) / (2 * SHORTER);
	memmove(f->token.v + half, f->token.v + f->token.n - half, half);
	f->token.n = 2 * half;
	f->times *= SHORTER;
	return true;
}

size_t
st_fuzz_family_next(size_t k)
{
	return k < SINGLE_STEPS ? k + 1 : k + k / 3;
}

void
st_fuzz_bytes_print_escaped(const struct st_fuzz_bytes *b, size_t most, FILE *out)
{
	for (size_t i = 0; i < b->n && i < most; i++)
		if (isascii(b->v[i]) && isprint(b->v[i]) && !strchr("'\\%", b->v[i]))
			putc(b->v[i], out);
		else
			fprintf(out, "\\%03o", b->v[i]);
}

static void
print_command(const struct st_fuzz_bytes *b, const char *indent, FILE *out)
{
	if (!b->n)
		return;
	fprintf(out, "%sprintf '", indent);
	st_fuzz_bytes_print_escaped(b, SIZE_MAX, out);
	fputs("'\n", out);
}

/* The letters that count, by awk: each byte is a number, and i is the number of the repetition. */
static void
print_counting(const struct st_fuzz_family *f, FILE *out)
{
	fprintf(out,
	        "LC_ALL=C awk -v n=\"${1:-%zu}\" 'BEGIN {\n\tfor (i = 0; i < n; i++)\n\t\tprintf "
	        "\"",
	        f->times);
	for (size_t i = 0; i < f->token.n; i++)
		fputs("%c", out);
	fputs("\"", out);
	for (size_t at = 0; at < f->token.n; at++) {
		uint8_t first = f->token.v[at];
		size_t divisor = 1, kinds = 0;
		for (size_t i = 0; i < f->n_varied && !kinds; i++) {
			const size_t n = kind_of_byte(f->token.v[f->varied[i]], &first);
			kinds = f->varied[i] == at ? n : 0;
			divisor *= kinds ? 1 : n;
		}
		if (kinds)
			fprintf(out, ", %u + int(i / %zu) %% %zu", first, divisor, kinds);
		else
			fprintf(out, ", %u", f->token.v[at]);
	}
	fputs("\n}'\n", out);
}

void
st_fuzz_family_script(const struct st_fuzz_family *f, FILE *out)
{
	fprintf(out,
	        "#!/bin/sh\n# usage: generate [N]: writes an input with N repetitions (default: "
	        "%zu)\n",
	        f->times);
	print_command(&f->before, "", out);
	if (f->n_varied) {
		print_counting(f, out);
	} else {
		fprintf(out, "i=0\nwhile [ $i -lt \"${1:-%zu}\" ]; do\n", f->times);
		print_command(&f->token, "\t", out);
		fputs("\ti=$((i + 1))\ndone\n", out);
	}
	print_command(&f->behind, "", out);
}
