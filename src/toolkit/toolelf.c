/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "toolkit/toolelf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/runtime.h"
#include "wire/area.h"

/* The contents of the dynamic section, as offsets into the tool's memory. */
struct dynamic {
	uint64_t symbols, strings, n_strings, hash;
	uint64_t n_symbols;
	struct {
		uint64_t at, bytes;
	} relocations[2];
	const char *cannot; /* something that a tool may not have */
};

st_status
st_tool_damaged(const struct st_tool_file *f, const char *how, struct st_error *e)
{
	return st_fail(e, ST_EXIT_USAGE,
	               "the tool %s is damaged: %s; rebuild it with strobe "
	               "build-tool",
	               f->path, how);
}

static bool
inside(const struct st_tool_file *f, uint64_t at, uint64_t bytes)
{
	return at <= f->size && bytes <= f->size - at;
}

static st_status
toolelf_check_header(const struct st_tool_file *f, const struct st_tool_bytes *b, Elf64_Ehdr *h,
                     struct st_error *e)
{
	size_t n = strlen(f->path);
	if (n > 2 && !strcmp(f->path + n - 2, ".c"))
		return st_fail(e, ST_EXIT_USAGE,
		               "%s is a tool's source; build it first: strobe build-tool %s",
		               f->path, f->path);
	if (b->n < SELFMAG || memcmp(b->at, ELFMAG, SELFMAG) != 0)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s is not a tool; strobe build-tool makes one from C", f->path);
	if (b->n < sizeof *h)
		return st_tool_damaged(f, "its header is cut off", e);
	memcpy(h, b->at, sizeof *h);
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_machine != EM_X86_64)
		return st_fail(e, ST_EXIT_USAGE,
		               "the tool %s is not for 64-bit x86; rebuild it with strobe "
		               "build-tool",
		               f->path);
	if (h->e_type != ET_DYN)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s is an ELF file but not a tool; strobe build-tool makes one "
		               "from C",
		               f->path);
	if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phoff > b->n ||
	    h->e_phnum > (b->n - h->e_phoff) / sizeof(Elf64_Phdr))
		return st_tool_damaged(f, "its program headers are cut off", e);
	return 0;
}

static st_status
add_part(struct st_tool_file *f, const struct st_tool_bytes *b, const Elf64_Phdr *p,
         struct st_error *e)
{
	if (p->p_filesz > p->p_memsz || p->p_offset > b->n || p->p_filesz > b->n - p->p_offset)
		return st_tool_damaged(f, "a part of it is cut off", e);
	if (p->p_vaddr > ST_TOOL_SPACE || p->p_memsz > ST_TOOL_SPACE - p->p_vaddr)
		return st_fail(e, ST_EXIT_USAGE,
		               "the tool %s needs more than %d MiB; use strobe_allocate for what "
		               "is large",
		               f->path, ST_TOOL_SPACE >> 20);
	struct st_tool_part part = {.start = p->p_vaddr & ~4095ull,
	                            .end = (p->p_vaddr + p->p_memsz + 4095) & ~4095ull,
	                            .written = p->p_flags & PF_W,
	                            .executed = p->p_flags & PF_X};
	if (f->n_parts == ST_TOOL_PARTS || part.start < f->size || part.end <= part.start)
		return st_tool_damaged(f, "its parts overlap", e);
	if (part.written && part.executed)
		return st_fail(e, ST_EXIT_USAGE,
		               "the tool %s has memory that is both written and executed; rebuild "
		               "it with strobe build-tool",
		               f->path);
	f->parts[f->n_parts++] = part;
	f->size = part.end;
	return 0;
}

/* Two passes over the program headers: how large it is, then its bytes. */
static st_status
load(struct st_tool_file *f, const struct st_tool_bytes *b, const Elf64_Ehdr *h,
     Elf64_Phdr *dynamic, struct st_error *e)
{
	Elf64_Phdr p;
	for (unsigned i = 0; i < h->e_phnum; i++) {
		memcpy(&p, b->at + h->e_phoff + i * sizeof p, sizeof p);
		if (p.p_type == PT_DYNAMIC)
			*dynamic = p;
		if (p.p_type == PT_LOAD && p.p_memsz && add_part(f, b, &p, e))
			return -1;
	}
	if (!f->n_parts || dynamic->p_type != PT_DYNAMIC)
		return st_tool_damaged(f, "it has no dynamic section", e);
	f->memory = calloc(1, f->size + 1); /* strings end */
	if (!f->memory)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	for (unsigned i = 0; i < h->e_phnum; i++) {
		memcpy(&p, b->at + h->e_phoff + i * sizeof p, sizeof p);
		if (p.p_type == PT_LOAD && p.p_memsz)
			memcpy(f->memory + p.p_vaddr, b->at + p.p_offset, p.p_filesz);
	}
	return 0;
}

static void
take_tag(struct dynamic *d, const Elf64_Dyn *tag)
{
	uint64_t value = tag->d_un.d_val;
	switch (tag->d_tag) {
	case DT_SYMTAB:
		d->symbols = value;
		break;
	case DT_STRTAB:
		d->strings = value;
		break;
	case DT_STRSZ:
		d->n_strings = value;
		break;
	case DT_HASH:
		d->hash = value;
		break;
	case DT_RELA:
		d->relocations[0].at = value;
		break;
	case DT_RELASZ:
		d->relocations[0].bytes = value;
		break;
	case DT_JMPREL:
		d->relocations[1].at = value;
		break;
	case DT_PLTRELSZ:
		d->relocations[1].bytes = value;
		break;
	case DT_NEEDED:
		d->cannot = "is linked to a library";
		break;
	case DT_INIT:
	case DT_INIT_ARRAY:
		d->cannot = "has constructors, which nobody would run";
		break;
	case DT_REL:
	case 36: /* DT_RELR, which older headers do not know */
		d->cannot = "has relocations of an unknown form";
		break;
	default:
		break;
	}
}

static st_status
read_dynamic(const struct st_tool_file *f, const Elf64_Phdr *p, struct dynamic *d,
             struct st_error *e)
{
	Elf64_Dyn tag;
	uint32_t hash[2] = {0}; /* buckets, symbols */
	if (!inside(f, p->p_vaddr, p->p_memsz))
		return st_tool_damaged(f, "its dynamic section is outside of it", e);
	for (uint64_t i = 0; i + sizeof tag <= p->p_memsz; i += sizeof tag) {
		memcpy(&tag, f->memory + p->p_vaddr + i, sizeof tag);
		if (tag.d_tag == DT_NULL)
			break;
		take_tag(d, &tag);
	}
	if (d->hash && inside(f, d->hash, sizeof hash))
		memcpy(hash, f->memory + d->hash, sizeof hash);
	d->n_symbols = hash[1];
	if (!inside(f, d->symbols, d->n_symbols * sizeof(Elf64_Sym)) ||
	    !inside(f, d->strings, d->n_strings) || !d->n_strings)
		return st_tool_damaged(f, "its symbols are outside of it", e);
	return 0;
}

/* The symbol's name, NULL when there is no such symbol. It ends where the tool's memory ends, if
 * not before. */
static const char *
symbol(const struct st_tool_file *f, const struct dynamic *d, uint64_t index, Elf64_Sym *s)
{
	if (index >= d->n_symbols)
		return NULL;
	memcpy(s, f->memory + d->symbols + index * sizeof *s, sizeof *s);
	return s->st_name < d->n_strings ? (const char *)f->memory + d->strings + s->st_name : NULL;
}

/* Where the pointer to the description lies: what makes a file a tool. */
static st_status
toolelf_find_entry(struct st_tool_file *f, const struct dynamic *d, struct st_error *e)
{
	Elf64_Sym s;
	for (uint64_t i = 1; i < d->n_symbols; i++) {
		const char *name = symbol(f, d, i, &s);
		if (!name || strcmp(name, "strobe_tool_entry") || s.st_shndx == SHN_UNDEF)
			continue;
		f->entry = s.st_value;
		if (inside(f, s.st_value, 8))
			return 0;
		return st_tool_damaged(f, "its description is outside of it", e);
	}
	return st_fail(e, ST_EXIT_USAGE, "%s is not a tool: there is no STROBE_TOOL in it",
	               f->path);
}

static st_status
check_form(const struct st_tool_file *f, const struct dynamic *d, struct st_error *e)
{
	if (!d->cannot)
		return 0;
	return st_fail(e, ST_EXIT_USAGE, "the tool %s %s; rebuild it with strobe build-tool",
	               f->path, d->cannot);
}

/* ---- relocations ---- */

/* Names that nothing defines, collected for one sentence. */
struct missing {
	char names[512];
	unsigned n;
};

static void
note_missing(struct missing *m, const char *name)
{
	char word[80];
	size_t used = strlen(m->names);
	snprintf(word, sizeof word, "%s%.60s", m->n ? ", " : "", name);
	for (char *c = word; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';
	m->n++;
	if (used + strlen(word) < sizeof m->names)
		strcpy(m->names + used, word);
}

static st_status
unknown_relocation(const struct st_tool_file *f, uint64_t type, struct st_error *e)
{
	bool local = type == R_X86_64_DTPMOD64 || type == R_X86_64_DTPOFF64 ||
	             type == R_X86_64_TPOFF64 || type == R_X86_64_TLSDESC;
	if (local)
		return st_fail(e, ST_EXIT_USAGE,
		               "the tool %s has thread-local variables; memory for each thread is "
		               ".state and strobe_state()",
		               f->path);
	return st_fail(e, ST_EXIT_USAGE,
	               "the tool %s has relocations of type %u; rebuild it with strobe build-tool",
	               f->path, (unsigned)type);
}

static bool
is_written(const struct st_tool_file *f, uint64_t at)
{
	for (size_t i = 0; i < f->n_parts; i++)
		if (f->parts[i].written && at >= f->parts[i].start && at <= f->parts[i].end - 8)
			return true;
	return false;
}

static st_status
relocate(struct st_tool_file *f, const struct dynamic *d, const Elf64_Rela *r, struct missing *m,
         struct st_error *e)
{
	uint64_t type = ELF64_R_TYPE(r->r_info);
	struct st_tool_fix fix = {.at = r->r_offset, .value = (uint64_t)r->r_addend};
	if (type == R_X86_64_NONE)
		return 0;
	if (type != R_X86_64_RELATIVE && type != R_X86_64_64 && type != R_X86_64_GLOB_DAT &&
	    type != R_X86_64_JUMP_SLOT)
		return unknown_relocation(f, type, e);
	if (!is_written(f, r->r_offset))
		return st_tool_damaged(f, "a relocation is outside of its data", e);
	if (type != R_X86_64_RELATIVE) {
		Elf64_Sym s;
		const char *name = symbol(f, d, ELF64_R_SYM(r->r_info), &s);
		if (!name)
			return st_tool_damaged(f, "a relocation has no symbol", e);
		fix.of_runtime = s.st_shndx == SHN_UNDEF ? name : NULL;
		uint64_t value = s.st_value;
		if (fix.of_runtime && st_runtime_symbol(name, &value) != 0)
			note_missing(m, name);
		fix.value += value;
	}
	if (!fix.of_runtime)
		memcpy(f->memory + fix.at, &fix.value, sizeof fix.value);
	f->fixes[f->n_fixes++] = fix;
	return 0;
}

static st_status
relocate_all(struct st_tool_file *f, const struct dynamic *d, struct st_error *e)
{
	struct missing m = {0};
	Elf64_Rela r;
	uint64_t n = 0;
	for (int i = 0; i < 2; i++) {
		if (!inside(f, d->relocations[i].at, d->relocations[i].bytes))
			return st_tool_damaged(f, "its relocations are outside of it", e);
		n += d->relocations[i].bytes / sizeof r;
	}
	f->fixes = calloc(n + 1, sizeof *f->fixes);
	if (!f->fixes)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	for (int i = 0; i < 2; i++)
		for (uint64_t k = 0; k < d->relocations[i].bytes / sizeof r; k++) {
			memcpy(&r, f->memory + d->relocations[i].at + k * sizeof r, sizeof r);
			if (relocate(f, d, &r, &m, e))
				return -1;
		}
	if (!m.n)
		return 0;
	return st_fail(e, ST_EXIT_USAGE,
	               "the tool %s uses %s, which strobe does not have; a tool has no library "
	               "but <strobe/tool.h>",
	               f->path, m.names);
}

st_status
st_tool_elf(struct st_tool_file *f, const struct st_tool_bytes *bytes, struct st_error *e)
{
	Elf64_Ehdr header = {.e_phnum = 0};
	Elf64_Phdr dynamic = {.p_type = PT_NULL};
	struct dynamic d = {0};
	if (toolelf_check_header(f, bytes, &header, e) || load(f, bytes, &header, &dynamic, e) ||
	    read_dynamic(f, &dynamic, &d, e) || toolelf_find_entry(f, &d, e) ||
	    check_form(f, &d, e) || relocate_all(f, &d, e))
		return -1;
	memcpy(&f->entry, f->memory + f->entry, sizeof f->entry);
	return 0;
}
