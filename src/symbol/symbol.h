/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Images and what is in them: functions, source lines, build-ids, bytes.
 *
 * An image is one ELF file (or the vdso). Offsets are the image's own addresses as in its ELF
 * headers (p_vaddr space, "link-time addresses"), so that (build-id, offset) names a place whatever
 * the load address and the run. An image is opened once, functions are read on first use, and
 * everything returned lives as long as the image. One thread at a time may use an image: lookups
 * fill it.
 *
 * Separate debug files are found by build-id and by .gnu_debuglink, below the directories that the
 * environment variable STROBE_DEBUG_DIRECTORY lists (separated by colons; /usr/lib/debug when it is
 * not set) and beside the image.
 * The network is not touched unless st_debuginfod_enable was called.
 */
#ifndef STROBE_SYMBOL_SYMBOL_H
#define STROBE_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

struct st_image;

enum st_symbol_source {
	ST_SYM_SYMTAB, /* .symtab of the file or of its separate debug file */
	ST_SYM_DYNSYM,
	ST_SYM_MINIDEBUG, /* .gnu_debugdata */
	ST_SYM_DWARF,
	ST_SYM_EHFRAME, /* a range from .eh_frame, named func_<offset in hex> */
	ST_SYM_PLT,     /* a PLT stub, named symbol@plt */
	ST_SYM_PERFMAP, /* generated code, named by what generated it */
};

struct st_function {
	uint64_t offset;      /* link-time address of the entry */
	uint64_t size;        /* bytes; never 0 after the table is built */
	const char *name;     /* demangled (C++, Rust), without a symbol version */
	const char *raw_name; /* as in the file */
	enum st_symbol_source source;
	uint64_t whole; /* entry of the function of which this is a part that the compiler put
	                   elsewhere, named foo.cold; else offset */
};

/* A name of a function. A function has several where symbols are aliases. */
struct st_symbol {
	uint64_t start; /* link-time addresses of the code and of the byte behind its end */
	uint64_t end;
	uint64_t entry; /* start; for a cold part that of the function, whose name without arguments
	                   is then plain */
	const char *name;     /* demangled, with arguments, without a symbol version */
	const char *plain;    /* demangled, without arguments */
	const char *raw_name; /* as in the file, without a symbol version */
	enum st_symbol_source source;
	bool shown;   /* of several names that of st_image_function */
	bool untyped; /* it does not say that it names a function: there may be data at start */
	bool ifunc;   /* the code at start does not do what the name says, it chooses who does: it
	                 returns the address of that function */
};

/* A word of data that the dynamic linker, or the start of a static program, fills with an address:
 * of a function, or sometimes of data. */
struct st_slot {
	uint64_t address;   /* link-time address of the word */
	uint64_t resolver;  /* 0, or the IFUNC of this image that chooses the function */
	const char *symbol; /* its name, or that of the resolver */
};

struct st_line {
	const char *file; /* path as in the debug information, made absolute with the compilation
	                     directory; NULL: unknown */
	uint32_t line;    /* 0: unknown */
	uint32_t column;
};

/* A function whose code stands in another one. */
struct st_inlined {
	const char *name;    /* demangled */
	struct st_line call; /* where it was called; file NULL, line 0: unknown */
};

/*
 * From now on debug files that this machine lacks are asked of the servers in DEBUGINFOD_URLS. 0,
 * or -1 with *e when there are none or the library for it is not installed.
 */
st_status st_debuginfod_enable(struct st_error *e);
/* The failure of the servers, a sentence; NULL: there was none. */
const char *st_debuginfod_problem(void);

/* Opens the ELF file at path ("[vdso]": this process's own vdso). NULL and *e filled on failure; a
 * file that is no ELF or is damaged fails, a damaged section is left out. The caller closes. */
struct st_image *st_image_open(const char *path, struct st_error *e);
void st_image_close(struct st_image *image);
/* The same of what the file is now: it may be changed, or its file system unmounted, while the
 * image is open. Not of files of more than 256 MB. */
struct st_image *st_image_copy(const char *path, struct st_error *e);
/*
 * From now on the path, as the kernel writes it in the list of a process' mappings, means the file
 * of the descriptor, which is taken over: it has been deleted, or lies where this program does not
 * see it. Two files of one path are neither. Any thread may call it, or open images.
 */
void st_image_hold(const char *path, int fd);
bool st_image_is_held(const char *path);
void st_images_let_go(void);
/* The path that such a list means: there a line feed is written as \012. malloc'ed. */
char *st_image_path_of(const char *name);
/* Reads now what the first question after a function, and with `lines` after a line, would read. */
void st_image_prepare(struct st_image *image, bool lines);

const char *st_image_path(const struct st_image *image);
/* Build-id in hex; when the file has none, "crc32:XXXXXXXX-size" of its content. Never NULL. */
const char *st_image_build_id(const struct st_image *image);
/* Where functions and lines came from, for messages: "full", "symbols", "stripped". */
const char *st_image_quality(struct st_image *image);

/* Link-time address of the byte at file_offset, by the program headers; UINT64_MAX when no PT_LOAD
 * holds it. */
uint64_t st_image_offset_of_file(const struct st_image *image, uint64_t file_offset);
/* Offset in the file of the byte at a link-time address; UINT64_MAX: the file does not have it. */
uint64_t st_image_file_offset(const struct st_image *image, uint64_t offset);
/* Offset in the file behind the last byte of an executable PT_LOAD; 0: there is none. */
uint64_t st_image_code_end(const struct st_image *image);
/* Link-time address of the first byte of an executable mapping that begins at file_offset;
 * UINT64_MAX when no executable PT_LOAD is mapped there. The page may begin with the end of another
 * segment. */
uint64_t st_image_offset_of_code(const struct st_image *image, uint64_t file_offset);

/*
 * The function that holds the link-time address, or NULL. Functions do not overlap after the table
 * is built.
 *
 * Of several symbols at one address the name is that of: a function before an untyped label, one
 * with a size before one without, external before local, few leading underscores before many,
 * strong before weak, the longer, the current version; then the shorter name and the alphabet. A
 * symbol inside another function starts a function of its own. A function without a size ends where
 * the next one starts, or its unwind information or its section ends.
 */
const struct st_function *st_image_function(struct st_image *image, uint64_t offset);
/* The other names that symbols give the function, demangled and without versions: the i-th of them,
 * NULL when there are no more. Some may read the same. */
const char *st_image_other_name(struct st_image *image, const struct st_function *f, size_t i);
/* All functions ordered by offset; *n receives their number. Demangles all of them: for one, ask
 * for it alone. */
const struct st_function *st_image_functions(struct st_image *image, size_t *n);

/* The unwind information of a range of code. */
enum st_code_frame {
	ST_FRAME_NONE,  /* there is none for it */
	ST_FRAME_ENTRY, /* a frame begins at its start, with the return address at the stack pointer
	                 */
	ST_FRAME_INNER, /* a frame begins at its start, in the middle of a function's */
	ST_FRAME_SIGNAL,  /* a frame begins at its start, that of a signal's return */
	ST_FRAME_GOES_ON, /* it belongs to a frame that begins before it */
};

/* Code between two places where something begins or ends: a function, a frame, a section. */
struct st_code_range {
	uint64_t start, end; /* link-time addresses */
	uint64_t function;   /* entry of the function that it is in; 0: of none */
	uint8_t frame;       /* enum st_code_frame */
};

/*
 * Whatever is in the executable sections, as ranges in order, with what lies between functions
 * among them. Returns their number and in *out an array that the caller frees; 0: there is no code,
 * or no memory. *has_frames: the image has unwind information.
 */
size_t st_image_code_ranges(struct st_image *image, struct st_code_range **out, bool *has_frames);

/* The entries of the IFUNC resolvers, in order. Returns their number and in *out an array that the
 * caller frees. */
size_t st_image_resolvers(struct st_image *image, uint64_t **out);

/* The same of labels in code: symbols without a type, which may well name data. */
size_t st_image_labels(struct st_image *image, uint64_t **out);

/* Whether the file's symbols say that code of the name, without a version, is in it. */
bool st_image_defines(struct st_image *image, const char *raw_name);

/* Whether the file has a section of the name. */
bool st_image_has_section(const struct st_image *image, const char *name);

/* Whether it is loaded at its link-time addresses: then numbers in it may be addresses. */
bool st_image_is_fixed(const struct st_image *image);

/* Calls use with each word of the data, and each addend of a relocation, that may be the address of
 * code: whoever has it can jump there. */
void st_image_code_addresses(struct st_image *image, void (*use)(void *context, uint64_t address),
                             void *context);

/* Calls use with the address of each landing pad, where code goes on when a function that it has
 * called throws. False: some of the exception tables cannot be read. */
bool st_image_landing_pads(struct st_image *image, void (*use)(void *context, uint64_t address),
                           void *context);

/* Where .eh_frame is, a link-time address, when the program headers do not lead to it. */
bool st_image_lone_frames(struct st_image *image, uint64_t *offset, uint64_t *bytes);

/* A static probe (USDT). */
struct st_static_probe {
	uint64_t address;   /* link-time, of the nop that it is */
	uint64_t semaphore; /* of the number of those who listen; 0: it has none */
	const char *provider, *name, *arguments; /* as in the note: "-4@%edi 8@(%rsp)" */
};
struct st_static_probes {
	struct st_static_probe *v; /* the caller frees it */
	size_t n, cap;
};
/* Adds the static probes of an image. -1: memory is exhausted. */
st_status st_image_static_probes(struct st_image *image, struct st_static_probes *out);

/* An instruction by which a function is left. */
struct st_exit {
	uint64_t at;     /* link-time address */
	uint64_t target; /* of a jump to code that is not the function's; 0: it returns */
};
/* A part of a function that stands elsewhere. */
struct st_part {
	uint64_t entry, start; /* of the function; of the part */
};
struct st_exits {
	ST_VEC(struct st_exit) exits; /* the caller frees v */
	bool jumps_to_itself;         /* to its first instruction */
};
/*
 * All return instructions and direct jumps by which the function that begins at the address is
 * left, in its n parts, too. False: all of it does not decode to instructions, or jumps lead into
 * the middle of one: there may be data in it.
 */
bool st_image_exits(struct st_image *image, uint64_t entry, const struct st_part *parts, size_t n,
                    struct st_exits *out);

/*
 * Do calls of the function take about the same time each, because its code has neither a loop nor a
 * call? False also if the code cannot be read or decoded.
 */
bool st_image_is_constant(struct st_image *image, const struct st_function *f);

/* A call in the code of a function: of a function of the image, of an imported symbol, or of the
 * kernel. */
enum { ST_CALL_NONE = UINT32_MAX };
struct st_call {
	uint64_t at;                      /* link-time address of the instruction */
	const struct st_function *target; /* the called function; NULL: it is not of this image */
	const char *symbol;               /* the imported symbol: `length` bytes; NULL: none */
	size_t length;
	uint32_t number; /* of the system call; ST_CALL_NONE: it is none, or not known */
};
typedef void st_call_fn(void *arg, const struct st_call *call);
/*
 * Calls `use` for each call in the code of the function, without its parts: direct calls, jumps to
 * the beginning of another function (tail calls), calls through slots of imported functions, and
 * system calls whose number the code before them sets to a constant. Calls through pointers are
 * left out. False: some of the code could not be read.
 */
bool st_image_calls(struct st_image *image, const struct st_function *f, st_call_fn *use,
                    void *arg);

/* The parts of a function that stand elsewhere. Returns how many there are and fills up to room. */
size_t st_image_parts(struct st_image *image, const struct st_function *whole,
                      const struct st_function **parts, size_t room);

/*
 * Is the code of two functions of different builds, with the parts that stand elsewhere, the same?
 * It is if its instructions are, however far they have moved: calls and jumps lead to functions of
 * the same names, and what is addressed relative to the instruction is a function or imported
 * symbol of the same name, as far as it has one. Data is not compared.
 */
bool st_image_same_code(struct st_image *a, const struct st_function *in_a, struct st_image *b,
                        const struct st_function *in_b);

/* All names of all functions ordered by start, of several the shown one first; *n receives their
 * number. Demangles all of them. */
const struct st_symbol *st_image_symbols(struct st_image *image, size_t *n);
/* All names of the function whose name is given, in that order; *n receives their number. */
const struct st_symbol *st_image_names_of(struct st_image *image, const struct st_symbol *symbol,
                                          size_t *n);
/*
 * A pattern of the form @FILE or @FILE:NAME stands for functions of a source file: FILE is a shell
 * pattern for its path, or for the end of that, from a slash on; `*` stands for slashes, too. Other
 * patterns are for names: false.
 */
struct st_file_pattern {
	char file[1024];
	const char *name; /* "*": all of them */
};
bool st_file_pattern(const char *pattern, struct st_file_pattern *out);
bool st_file_fits(const struct st_file_pattern *pattern, const char *path);
/* The source file in which the function of the name begins; NULL: not known. */
const char *st_image_source(struct st_image *image, const struct st_symbol *symbol);

/*
 * Calls use for each name that the pattern fits, in the order of st_image_symbols, until it returns
 * false. A shell pattern
 * may be written as any of name, plain and raw_name; st_file_pattern says what else it may be.
 * Demangles only what could fit. 0, or -1 when memory is exhausted.
 */
st_status st_image_match(struct st_image *image, const char *pattern,
                         bool (*use)(const struct st_symbol *symbol, void *context), void *context);

/* The slots ordered by address; *n receives their number. In a running process they tell which
 * function an IFUNC has chosen. */
const struct st_slot *st_image_slots(struct st_image *image, size_t *n);

/* The source line of a link-time address. 0 on success, -1 when unknown (*line zeroed). Where the
 * compiler says that code belongs to a file but to no line of it, this succeeds with line 0. */
st_status st_image_line(struct st_image *image, uint64_t offset, struct st_line *line);

/* The line of the function that begins at a link-time address: that of its declaration, as the
 * debug information has it; that of its first instruction where the debug information does not say,
 * or is compressed and large. Returns as st_image_line. */
st_status st_image_function_line(struct st_image *image, uint64_t entry, struct st_line *line);

/*
 * The functions that were inlined where the code at a link-time address is, innermost first: the
 * first one holds the source line of the address, the call of the last one stands in the function
 * itself. Returns how many there are and fills up to room of them.
 */
size_t st_image_inlined(struct st_image *image, uint64_t offset, struct st_inlined *out,
                        size_t room);

/* Copies up to n bytes of the image's content at the link-time address; returns how many are there.
 */
size_t st_image_bytes(struct st_image *image, uint64_t offset, void *out, size_t n);

/* st_sum (base/sum.h) of n bytes of the file from `pgoff` on, with zeros behind its end; 0: the
 * file is not so long, or cannot be read. */
uint64_t st_image_sum(struct st_image *image, uint64_t pgoff, uint64_t n);

/* Where basic blocks may begin that have not been executed: entries of functions, what follows what
 * has been executed, and in functions with indirect jumps whatever a jump leads to or follows. Only
 * what is the first byte of an instruction. The image must outlive it. NULL: no memory. */
struct st_leaders *st_leaders_new(struct st_image *image);
void st_leaders_free(struct st_leaders *l);
/* The link-time addresses of [from, end) that were executed: bit `first` + address is set. */
struct st_executed {
	const uint8_t *bits;
	uint64_t first, from, end;
};
typedef void st_leader_fn(void *arg, uint64_t offset);
/* Bytes of what a process has been told of; none are set at first. */
size_t st_leaders_told(const struct st_leaders *l);
/* Tells of all entries the first time, and of what is in functions of which something has been
 * executed, when it is asked for the first time since. Some are told twice, or have been executed.
 */
void st_leaders_tell(struct st_leaders *l, uint8_t *told, const struct st_executed *executed,
                     st_leader_fn *fn, void *arg);

/* Demangles a C++ or Rust symbol; returns a malloc'ed string, or NULL when it is not a mangled
 * name. */
char *st_demangle(const char *name);
/* The same without arguments and return type. */
char *st_demangle_plain(const char *name);

#endif
