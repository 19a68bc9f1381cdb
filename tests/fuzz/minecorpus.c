/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * minecorpus: writes a corpus of the distinct instruction forms in the executable sections of ELF
 * files.
 *
 * Usage: minecorpus -o CORPUS [-s SAMPLES] < LIST-OF-FILES. A form is what a decoder, relocator or
 * liveness analysis may treat specially: mnemonic, encoding, opcode, kind and width of each
 * operand, addressing mode, prefixes. Up to SAMPLES (2) different examples of a form are kept.
 * With -x they are written as a text, a line of hexadecimal digits each; with -t the list is such a
 * text, of which all lines are kept: so sequences can be the same on every machine.
 */
#include "corpus.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLOTS (1u << 19)

struct slot {
	uint64_t key; /* 0: free */
	uint32_t form[4];
	uint32_t nforms;
};

static struct slot *table;
static struct fz_form *forms;
static size_t nforms, capforms;
static unsigned samples = 2;
static unsigned long long nfiles, ninsns, nbytes;
static ZydisDecoder decoder;

static void
fold(uint64_t *h, uint64_t v)
{
	*h = (*h ^ v) * 0x9e3779b97f4a7c15u;
	*h ^= *h >> 29;
}

static uint64_t
reg_kind(ZydisRegister r)
{
	uint64_t k = (uint64_t)ZydisRegisterGetClass(r) << 4;

	if (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r) == ZYDIS_REGISTER_RSP)
		k |= 1;
	if (r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH)
		k |= 2;
	return k;
}

static uint64_t
mem_kind(const ZydisDecodedOperandMem *m, const ZydisDecodedInstruction *in)
{
	uint64_t k = m->base == ZYDIS_REGISTER_NONE                                   ? 0
	             : m->base == ZYDIS_REGISTER_RIP || m->base == ZYDIS_REGISTER_EIP ? 1
	             : m->base == ZYDIS_REGISTER_RSP || m->base == ZYDIS_REGISTER_ESP ? 2
	                                                                              : 3;

	k |= (uint64_t)ZydisRegisterGetClass(m->index) << 4;
	k |= (uint64_t)in->raw.disp.size << 12;
	k |= (uint64_t)(m->segment == ZYDIS_REGISTER_FS) << 20;
	k |= (uint64_t)(m->segment == ZYDIS_REGISTER_GS) << 21;
	k |= (uint64_t)m->type << 22;
	return k;
}

static uint64_t
form_key(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	uint64_t h = 1;

	fold(&h, (uint64_t)in->mnemonic << 32 | (uint64_t)in->encoding << 24 |
	                 (uint64_t)in->opcode_map << 16 | in->opcode);
	fold(&h, (uint64_t)in->operand_width << 32 | (uint64_t)in->address_width << 16 |
	                 in->avx.vector_length);
	fold(&h, in->attributes &
	                 (ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
	                  ZYDIS_ATTRIB_HAS_REPNE | ZYDIS_ATTRIB_HAS_BND | ZYDIS_ATTRIB_HAS_NOTRACK |
	                  ZYDIS_ATTRIB_HAS_SEGMENT | ZYDIS_ATTRIB_HAS_EVEX_B));
	fold(&h, (uint64_t)in->avx.mask.mode << 8 | in->avx.broadcast.mode);
	for (unsigned i = 0; i < in->operand_count_visible; i++) {
		const ZydisDecodedOperand *o = &ops[i];

		fold(&h, (uint64_t)o->type << 32 | o->size);
		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
			fold(&h, reg_kind(o->reg.value));
		else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
			fold(&h, mem_kind(&o->mem, in));
	}
	return h | 1;
}

static void
add_form(struct slot *s, const ZydisDecodedInstruction *in, const uint8_t *bytes)
{
	if (nforms == capforms) {
		capforms = capforms ? capforms * 2 : 16384;
		forms = realloc(forms, capforms * sizeof *forms);
		if (!forms)
			exit(1);
	}
	struct fz_form *f = &forms[nforms];

	memset(f, 0, sizeof *f);
	f->mnemonic = (uint16_t)in->mnemonic;
	f->len = in->length;
	memcpy(f->bytes, bytes, in->length);
	s->form[s->nforms++] = (uint32_t)nforms++;
}

static void
record(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops, const uint8_t *bytes)
{
	uint64_t key = form_key(in, ops);
	uint32_t at = (uint32_t)(key >> 40) & (SLOTS - 1);

	while (table[at].key != 0 && table[at].key != key)
		at = (at + 1) & (SLOTS - 1);
	struct slot *s = &table[at];

	s->key = key;
	if (s->nforms < samples && (s->nforms == 0 || (ninsns & 63) == 0) && nforms < SLOTS / 2)
		add_form(s, in, bytes);
	if (s->nforms)
		forms[s->form[0]].count++;
}

static void
sweep(const uint8_t *p, size_t n)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	size_t at = 0;

	nbytes += n;
	while (at < n) {
		size_t left = n - at;

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, p + at, left, &in, ops))) {
			at++;
			continue;
		}
		ninsns++;
		record(&in, ops, p + at);
		at += in.length;
	}
}

static void
sweep_elf(const uint8_t *p, size_t n)
{
	const Elf64_Ehdr *eh = (const void *)p;

	if (n < sizeof *eh || memcmp(p, ELFMAG, 4) != 0 || eh->e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh->e_machine != EM_X86_64 || eh->e_shentsize != sizeof(Elf64_Shdr) ||
	    eh->e_shoff % 8 != 0 || eh->e_shoff > n ||
	    (n - eh->e_shoff) / sizeof(Elf64_Shdr) < eh->e_shnum)
		return;
	nfiles++;
	const Elf64_Shdr *sh = (const void *)(p + eh->e_shoff);

	for (unsigned i = 0; i < eh->e_shnum; i++)
		if (sh[i].sh_type == SHT_PROGBITS && (sh[i].sh_flags & SHF_EXECINSTR) &&
		    sh[i].sh_offset <= n && sh[i].sh_size <= n - sh[i].sh_offset)
			sweep(p + sh[i].sh_offset, sh[i].sh_size);
}

static void
sweep_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 64) {
		size_t n = (size_t)st.st_size;
		void *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);

		if (p != MAP_FAILED) {
			sweep_elf(p, n);
			munmap(p, n);
		}
	}
	close(fd);
}

/* A line of the text that write_text makes. Returns false when it is no instruction. */
static bool
take_line(const char *line)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct slot s = {0};
	uint8_t bytes[15];
	size_t n = 0;

	while (n < sizeof bytes && sscanf(line + 2 * n, "%2hhx", &bytes[n]) == 1)
		n++;
	if (line[2 * n] != 0 ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n, &in, ops)) || in.length != n)
		return false;
	add_form(&s, &in, bytes);
	forms[nforms - 1].count = 1;
	ninsns++;
	nbytes += n;
	return true;
}

static bool
write_text(FILE *f)
{
	for (size_t i = 0; i < nforms; i++) {
		for (unsigned k = 0; k < forms[i].len; k++)
			fprintf(f, "%02x", forms[i].bytes[k]);
		fputc('\n', f);
	}
	return !ferror(f);
}

static bool
write_forms(FILE *f)
{
	uint64_t n = nforms;

	return fwrite(FZ_CORPUS_MAGIC, 8, 1, f) == 1 && fwrite(&n, sizeof n, 1, f) == 1 &&
	       fwrite(forms, sizeof *forms, nforms, f) == nforms;
}

static int
write_corpus(const char *path, bool text)
{
	FILE *f = fopen(path, "wb");
	bool written = f && (text ? write_text(f) : write_forms(f));

	if (!f || fclose(f) != 0 || !written) {
		fprintf(stderr, "minecorpus: cannot write %s\n", path);
		return 1;
	}
	fprintf(stderr, "minecorpus: %llu files, %llu bytes, %llu instructions, %zu forms kept\n",
	        nfiles, nbytes, ninsns, nforms);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *out = NULL;
	char line[4096];
	bool to_text = false, from_text = false;
	int c;

	while ((c = getopt(argc, argv, "o:s:tx")) != -1) {
		if (c == 'o')
			out = optarg;
		else if (c == 't')
			from_text = true;
		else if (c == 'x')
			to_text = true;
		else if (c == 's' && atoi(optarg) >= 1 && atoi(optarg) <= 4)
			samples = (unsigned)atoi(optarg);
		else
			out = NULL;
	}
	if (!out) {
		fprintf(stderr, "usage: minecorpus -o CORPUS [-x] [-s SAMPLES 1..4] < "
		                "LIST-OF-FILES, or -t < TEXT\n");
		return 2;
	}
	table = calloc(SLOTS, sizeof *table);
	if (!table || !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
	                                             ZYDIS_STACK_WIDTH_64)))
		return 1;
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (!from_text)
			sweep_file(line);
		else if (!take_line(line)) {
			fprintf(stderr, "minecorpus: no instruction: %s\n", line);
			return 1;
		}
	}
	if (nforms == 0) {
		fprintf(stderr, "minecorpus: no instructions found: give x86-64 ELF files on "
		                "standard input\n");
		return 1;
	}
	int rc = write_corpus(out, to_text);

	free(forms);
	free(table);
	return rc;
}
