/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Disassembly with the executions of each instruction, read again from the image. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/annotate.h"
#include "report/disassemble.h"
#include "symbol/symbol.h"

struct listing {
	const struct st_report *r;
	FILE *out;
	struct st_image *image;
	const struct st_profile_block *blocks; /* of the function, by offset */
	size_t n_blocks;
	const struct st_branches *branches;
	uint32_t in; /* index of the image */
	struct st_disassembler code;
	char *place; /* line and inlined functions printed last */
};

/* The source line of the code and the functions inlined there, where they differ from those above.
 */
static void
annotate_code_print_place(struct listing *l, uint64_t offset)
{
	struct st_line line;
	struct st_text built;
	if (st_image_line(l->image, offset, &line) || !line.file || !line.line)
		return;
	FILE *out = st_text_begin(&built);
	if (!out)
		return;
	fprintf(out, "; %s:%u", st_base_name(line.file), line.line);
	st_print_inlined(l->image, offset, out);
	char *text = st_text_end(&built);
	bool same = text && l->place && !strcmp(text, l->place);
	if (text && !same)
		fprintf(l->out, "%41s%s\n", "", text);
	free(l->place);
	l->place = text;
}

/* Executions of the instruction at an offset: of all blocks over it. start: whether one begins
 * there. */
static uint64_t
executions_of(const struct listing *l, uint64_t offset, uint64_t *samples, bool *start)
{
	uint64_t sum = 0;
	*start = false;
	*samples = 0;
	for (size_t i = 0; i < l->n_blocks && l->blocks[i].offset <= offset; i++) {
		const struct st_profile_block *b = &l->blocks[i];
		if (offset - b->offset < b->bytes)
			sum += b->executions;
		if (offset == b->offset) {
			*start = true;
			*samples += b->samples;
		}
	}
	return sum;
}

/* Prints the counts of the conditional branch at the offset, if there is one that was counted. */
static void
print_branch(const struct listing *l, uint64_t offset)
{
	size_t end, at = st_branches_from(l->branches, l->in, offset, offset + 1, &end);
	if (at == end)
		return;
	fputs("  ; ", l->out);
	st_branch_print(&l->branches->v.v[at], l->out);
}

/* Where branches were counted, says of conditions that are no branches why they have no counts. */
static void
print_condition(const struct listing *l, const char *instruction)
{
	if (!l->branches->v.n)
		return;
	if (!strncmp(instruction, "cmov", 4))
		fputs("  ; a conditional move, no branch: not counted", l->out);
	else if (!strncmp(instruction, "set", 3) && strncmp(instruction, "setss", 5) != 0)
		fputs("  ; a condition as a value, no branch: not counted", l->out);
}

static size_t
print_instruction(struct listing *l, const unsigned char *bytes, size_t n, uint64_t offset)
{
	char text[ST_INSTRUCTION_TEXT], number[ST_NUMBER_SIZE] = "", sampled[ST_NUMBER_SIZE] = "";
	uint64_t samples;
	bool start;
	uint64_t executions = executions_of(l, offset, &samples, &start);
	size_t length = st_disassemble(&l->code, bytes, n, offset, text);
	if (start)
		putc('\n', l->out);
	annotate_code_print_place(l, offset);
	if (executions)
		st_number(number, executions);
	if (samples)
		st_number(sampled, samples);
	char *clean = st_printable(text);
	if (clean && l->r->style.width > 60)
		st_shorten(clean, l->r->style.width - 41);
	fprintf(l->out, "%8s %14s  %12" PRIx64 ":  %s", sampled, number, offset,
	        clean ? clean : "");
	print_branch(l, offset);
	print_condition(l, text);
	putc('\n', l->out);
	free(clean);
	return length;
}

static void
print_range(struct listing *l, uint64_t offset, uint64_t length)
{
	enum { MAX_SIZE = 16 << 20 };
	size_t size = length < MAX_SIZE ? (size_t)length : MAX_SIZE;
	unsigned char *bytes = malloc(size);
	if (!bytes)
		return;
	size = st_image_bytes(l->image, offset, bytes, size);
	for (size_t at = 0; at < size;)
		at += print_instruction(l, bytes + at, size - at, offset + at);
	free(bytes);
}

/* The function's blocks in order; they need not stand together. */
static struct st_profile_block *
blocks_of(const struct st_profile *p, uint32_t function, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < p->blocks.n; i++)
		*n += p->blocks.v[i].function == function;
	struct st_profile_block *v = calloc(*n ? *n : 1, sizeof *v);
	*n = 0;
	for (size_t i = 0; v && i < p->blocks.n; i++)
		if (p->blocks.v[i].function == function)
			v[(*n)++] = p->blocks.v[i];
	return v;
}

static void
print_code(struct listing *l, const struct st_annotation *a)
{
	const struct st_profile_function *f = &a->r->profile->functions.v[a->function];
	const struct st_function *parts[ST_MAX_PARTS];
	size_t n = st_annotation_parts(a, parts);
	st_disassembler_init(&l->code, l->image);
	fprintf(l->out, "\n%8s %14s  %13s\n", "samples", "executions", "offset");
	print_range(l, f->offset, f->size);
	for (size_t i = 0; i < n; i++) {
		char *name = st_printable(parts[i]->name);
		fprintf(l->out, "\n%41s%s\n", "", name ? name : "");
		free(name);
		print_range(l, parts[i]->offset, parts[i]->size);
	}
}

void
st_annotate_code(const struct st_annotation *a)
{
	const struct st_profile *p = a->r->profile;
	const struct st_profile_function *f = &p->functions.v[a->function];
	struct listing l = {.r = a->r, .out = a->out, .branches = a->branches, .in = f->image};
	const char *why;
	if (!f->size) {
		fprintf(a->out, "\n  no disassembly: this stands for all code without a symbol\n");
		return;
	}
	l.image = st_places_image(a->places, f->image, &why);
	if (!l.image) {
		char *clean = st_printable(why);
		fprintf(a->out, "\n  no disassembly: %s\n", clean ? clean : "");
		free(clean);
		return;
	}
	struct st_profile_block *blocks = blocks_of(p, a->function, &l.n_blocks);
	l.blocks = blocks;
	if (blocks)
		print_code(&l, a);
	free(blocks);
	free(l.place);
}
