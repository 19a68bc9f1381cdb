/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runtime's reader of call frame information against elfutils', on this program and its
 * libraries as they lie in memory: at random places, with random registers and a random stack. Then
 * the same information with bytes changed at random: it may say anything, but must come to an end,
 * and read nothing but by cfi_read.
 *
 * usage: test_cfi [PLACES [SEED]]
 */
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/unwind/cfi.h"
#include "symbol/unwind.h"

enum { WORDS = 4096, MOST_IMAGES = 16 };

static uint64_t stack[WORDS];

/* An image in memory. */
struct subject {
	struct st_image *image;
	uint64_t bias, start, end; /* link-time addresses are less by the bias; all of it */
	uint64_t code_start, code_end, header; /* 0: none */
	struct cfi_table table;
};
static struct subject subjects[MOST_IMAGES];
static size_t n_subjects;

static uint64_t seed = 1;
static unsigned flip_one_in; /* bytes; 0: none */

static uint64_t
random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static bool
lies_in(uint64_t from, size_t bytes, uint64_t start, uint64_t end)
{
	return from >= start && from <= end && bytes <= end - from;
}

/* A damaged address may lie anywhere in a subject, also between its variables. */
__attribute__((no_sanitize("address"))) static void
copy(volatile uint8_t *to, const volatile uint8_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = from[i];
}

bool
cfi_read(void *to, uint64_t from, size_t bytes)
{
	bool found = lies_in(from, bytes, (uint64_t)stack, (uint64_t)(stack + WORDS));
	for (size_t i = 0; i < n_subjects && !found; i++)
		found = lies_in(from, bytes, subjects[i].start, subjects[i].end);
	if (!found)
		return false;
	copy(to, (const uint8_t *)from, bytes);
	for (size_t i = 0; flip_one_in && i < bytes; i++)
		if (random_number() % flip_one_in == 0)
			((uint8_t *)to)[i] = (uint8_t)random_number();
	return true;
}

static int
add_image(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct subject s = {.bias = info->dlpi_addr};
	struct st_error e;
	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_GNU_EH_FRAME)
			s.header = s.bias + p->p_vaddr;
		if (p->p_type != PT_LOAD || p->p_flags & PF_W)
			continue;
		if (!s.start)
			s.start = s.bias + p->p_vaddr;
		s.end = s.bias + p->p_vaddr + p->p_memsz;
		if (p->p_flags & PF_X) {
			s.code_start = s.bias + p->p_vaddr;
			s.code_end = s.end;
		}
	}
	const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	s.image = strchr(path, '/') ? st_image_open(path, &e) : NULL;
	if (s.image && s.header && s.code_start && n_subjects < MOST_IMAGES)
		subjects[n_subjects++] = s;
	return 0;
}

static void
random_registers(uint64_t r[CFI_REGISTERS])
{
	for (size_t i = 0; i < WORDS; i++)
		stack[i] = random_number();
	for (unsigned i = 0; i < CFI_REGISTERS; i++)
		r[i] = random_number() % 2 ? random_number()
		                           : (uint64_t)(stack + random_number() % WORDS);
	r[CFI_RSP] = (uint64_t)(stack + WORDS / 4);
	if (random_number() % 4)
		r[CFI_RBP] = r[CFI_RSP] + random_number() % 512 * 8;
}

static enum cfi_step
expected(enum st_unwind how)
{
	return how == ST_UNWIND_CALLER      ? CFI_CALLER
	       : how == ST_UNWIND_OUTERMOST ? CFI_OUTERMOST
	                                    : CFI_LOST;
}

static bool
differs(const struct subject *s, uint64_t pc)
{
	static const uint8_t kept[] = {3, 6, 7, 12, 13, 14, 15, 16};
	const struct st_stack_copy copy = {(const unsigned char *)stack, (uint64_t)stack,
	                                   sizeof stack};
	uint64_t ours[CFI_REGISTERS], theirs[ST_DWARF_REGISTERS], cfa = 0;
	struct cfi_row row;
	bool interrupted = false;
	random_registers(ours);
	ours[CFI_PC] = pc;
	memcpy(theirs, ours, sizeof theirs);
	enum st_unwind how = st_image_unwind(s->image, pc - s->bias, theirs, &copy, &interrupted);
	bool found = cfi_find(&s->table, pc, &row);
	if (!found || how == ST_UNWIND_UNKNOWN)
		return found != (how != ST_UNWIND_UNKNOWN);
	if (cfi_apply(&row, ours, &cfa) != expected(how) || row.signal != interrupted)
		return true;
	for (size_t i = 0; how == ST_UNWIND_CALLER && i < sizeof kept; i++)
		if (ours[kept[i]] != theirs[kept[i]])
			return true;
	return false;
}

/* Made from .eh_frame alone, a table has to say the same. */
static bool
makes_the_same(const struct subject *s)
{
	struct cfi_table made;
	int32_t first;
	uint8_t header[12];
	memcpy(header, (const void *)s->header, sizeof header);
	memcpy(&first, header + 4, sizeof first);
	uint64_t frames = s->header + 4 + (uint64_t)(int64_t)first;
	uint32_t n = cfi_make(&made, frames, s->end, NULL, 0);
	struct cfi_entry *entries = calloc(n ? n : 1, sizeof *entries);
	if (!entries || cfi_make(&made, frames, s->end, entries, n) != n)
		return false;
	const struct cfi_entry *theirs = (const void *)s->table.entries;
	bool same = n == s->table.n;
	for (uint32_t i = 0; same && i < n; i++)
		same = frames + (uint64_t)(int64_t)entries[i].start ==
		       s->header + (uint64_t)(int64_t)theirs[i].start;
	free(entries);
	return same;
}

static uint64_t
random_place(const struct subject *s)
{
	return s->code_start + random_number() % (s->code_end - s->code_start);
}

static void
read_damaged(const struct subject *s)
{
	uint64_t registers[CFI_REGISTERS], cfa;
	struct cfi_table table;
	struct cfi_row row;
	flip_one_in = 1u << random_number() % 12;
	cfi_open(&table, s->header);
	random_registers(registers);
	if (cfi_find(random_number() % 2 ? &table : &s->table, random_place(s), &row))
		cfi_apply(&row, registers, &cfa);
	flip_one_in = 0;
}

int
main(int argc, char **argv)
{
	unsigned long places = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000, bad = 0;
	if (argc > 2)
		seed = strtoul(argv[2], NULL, 10) | 1;
	dl_iterate_phdr(add_image, NULL);
	for (size_t i = 0; i < n_subjects; i++) {
		struct subject *s = &subjects[i];
		cfi_open(&s->table, s->header);
		if (!s->table.n || !makes_the_same(s)) {
			printf("%s: another table than its own\n", st_image_path(s->image));
			bad++;
		}
	}
	for (unsigned long i = 0; i < places; i++) {
		const struct subject *s = &subjects[random_number() % n_subjects];
		uint64_t pc = random_place(s);
		if (differs(s, pc) && ++bad < 10)
			printf("%s+0x%lx: not what elfutils says\n", st_image_path(s->image),
			       (unsigned long)(pc - s->bias));
		read_damaged(s);
	}
	for (size_t i = 0; i < n_subjects; i++)
		st_image_close(subjects[i].image);
	printf("%lu places in %zu images, %lu wrong\n", places, n_subjects, bad);
	return bad || n_subjects < 2;
}
