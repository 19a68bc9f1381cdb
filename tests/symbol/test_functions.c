/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions against nm, readelf and objdump, in every shape a program may have. */
#include "support.h"

/* The one symbol among those at an address that gives the name: the rules of symbol.h, written down
 * once more. */
static bool
better(const struct nm_symbol *a, const struct nm_symbol *b)
{
	if ((a->size > 0) != (b->size > 0))
		return a->size > 0;
	if (a->local != b->local)
		return b->local;
	size_t bars_a = strspn(a->raw, "_"), bars_b = strspn(b->raw, "_");
	if (bars_a != bars_b)
		return bars_a < bars_b;
	if (a->weak != b->weak)
		return b->weak;
	if (a->size != b->size)
		return a->size > b->size;
	if (strlen(a->raw) != strlen(b->raw))
		return strlen(a->raw) < strlen(b->raw);
	return strcmp(a->raw, b->raw) < 0;
}

/* Every address that nm calls code is a function with the right name, and the size where there is
 * one. */
static void
check_against_nm(const char *name)
{
	struct st_image *image = open_sample(name);
	struct nm_symbols symbols = nm_code(sample(name), "");
	size_t checked = 0;

	check_table(image);
	for (size_t i = 0, next; i < symbols.n; i = next) {
		const struct nm_symbol *best = &symbols.v[i];
		uint64_t size = best->size;
		for (next = i + 1; next < symbols.n && symbols.v[next].address == best->address;
		     next++) {
			if (symbols.v[next].size > size)
				size = symbols.v[next].size;
			if (better(&symbols.v[next], best))
				best = &symbols.v[next];
		}
		const struct st_function *f = st_image_function(image, best->address);
		if (!strcmp(best->raw, "plain_local_label"))
			continue;
		if (!f || f->offset != best->address)
			fail_msg("%s: %s at %#lx is missing", name, best->raw, best->address);
		assert_string_equal(f->name, best->plain);
		assert_string_equal(f->raw_name, best->raw);
		assert_int_equal(f->source, ST_SYM_SYMTAB);
		bool nested = next < symbols.n && symbols.v[next].address < best->address + size;
		if (size && !nested && strcmp(best->raw, "asm_inner") != 0)
			assert_int_equal(f->size, size);
		checked++;
	}
	assert_true(checked > 10);
	nm_free(&symbols);
	st_image_close(image);
}

static void
agrees_with_nm(void **state)
{
	static const char *const names[] = {"full",    "nopie",       "static",     "staticpie",
	                                    "ibt",     "noid",        "dwarf4",     "exports",
	                                    "packed",  "split",       "shapes",     "clang",
	                                    "rust_v0", "rust_legacy", "libplain.so"};
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (sample_exists(names[i]))
			check_against_nm(names[i]);
}

static void
nothing_but_symbols_and_stubs(void **state)
{
	(void)state;
	struct st_image *image = open_sample("full");
	struct nm_symbols symbols = nm_code(sample("full"), "");
	size_t n;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++) {
		bool known = f[i].source == ST_SYM_PLT;
		for (size_t j = 0; j < symbols.n; j++)
			known |= symbols.v[j].address == f[i].offset;
		if (!known)
			fail_msg("%s at %#lx is no symbol", f[i].name, f[i].offset);
	}
	nm_free(&symbols);
	st_image_close(image);
}

static void
aliases_and_sizes(void **state)
{
	(void)state;
	struct st_image *image = open_sample("full");
	const struct st_function *outer = function_named(image, "asm_outer");
	const struct st_function *inner = function_named(image, "asm_inner");
	const struct st_function *unsized = function_named(image, "asm_unsized");
	const struct st_function *label = function_named(image, "asm_label");

	function_named(image, "strong_alias");
	function_named(image, "only_weak");
	function_named(image, "chosen");
	assert_int_equal(unsized->offset + unsized->size, label->offset);
	assert_int_equal(label->offset + label->size, outer->offset);
	assert_int_equal(outer->size, 2);
	assert_int_equal(inner->offset, outer->offset + 2);
	assert_int_equal(inner->size, 5);
	st_image_close(image);
}

/* The entry of name in the text of readelf --debug-dump=frames: "pc=START..END". */
static size_t
check_frames(struct st_image *image, const char *name)
{
	struct output frames =
	        run("readelf --debug-dump=frames '%s' | grep -o 'pc=.*'", sample(name));
	size_t found = 0;
	for (size_t i = 0; i < frames.n; i++) {
		uint64_t start, end;
		assert_int_equal(sscanf(frames.line[i], "pc=%lx..%lx", &start, &end), 2);
		const struct st_function *f = st_image_function(image, start);
		assert_non_null(f);
		if (f->source != ST_SYM_EHFRAME)
			continue;
		char wanted[32];
		snprintf(wanted, sizeof wanted, "func_%lx", start);
		assert_string_equal(f->name, wanted);
		assert_int_equal(f->offset, start);
		assert_int_equal(f->size, end - start);
		found++;
	}
	output_free(&frames);
	return found;
}

static void
stripped_code_has_frames(void **state)
{
	(void)state;
	struct st_image *image = open_sample("stripped"), *full = open_sample("full");
	check_table(image);
	assert_int_equal(check_frames(image, "stripped"), 11);
	static const char *const names[] = {"main",       "local_twice",  "report",
	                                    "other_file", "strong_alias", "asm_sized"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct st_function *truth = function_named(full, names[i]);
		const struct st_function *f = st_image_function(image, truth->offset + 1);
		assert_non_null(f);
		assert_int_equal(f->source, ST_SYM_EHFRAME);
		assert_int_equal(f->offset, truth->offset);
		assert_int_equal(f->size, truth->size);
	}
	assert_string_equal(st_image_quality(image), "stripped");
	st_image_close(image);
	st_image_close(full);
}

static void
same_functions(const char *name, const char *truth, enum st_symbol_source source)
{
	struct st_image *a = open_sample(name), *b = open_sample(truth);
	size_t n, m;
	const struct st_function *f = st_image_functions(a, &n), *g = st_image_functions(b, &m);
	check_table(a);
	assert_int_equal(n, m);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(f[i].offset, g[i].offset);
		assert_int_equal(f[i].size, g[i].size);
		assert_string_equal(f[i].name, g[i].name);
		assert_int_equal(f[i].source, g[i].source == ST_SYM_PLT ? ST_SYM_PLT : source);
	}
	st_image_close(a);
	st_image_close(b);
}

static void
mini_debuginfo(void **state)
{
	(void)state;
	same_functions("mini", "full", ST_SYM_MINIDEBUG);
	struct st_image *image = open_sample("mini");
	assert_string_equal(st_image_quality(image), "symbols");
	st_image_close(image);
}

/* Without a symbol table, DWARF names every function that a compiler made. */
static void
dwarf_functions(void **state)
{
	(void)state;
	struct st_image *image = open_sample("dwarfonly"), *full = open_sample("full");
	static const char *const names[] = {"main",   "only_weak",  "chosen_one",
	                                    "report", "other_file", "local_twice"};
	check_table(image);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct st_function *truth = function_named(full, names[i]);
		const struct st_function *f = function_named(image, names[i]);
		assert_int_equal(f->source, ST_SYM_DWARF);
		assert_int_equal(f->offset, truth->offset);
		assert_int_equal(f->size, truth->size);
	}
	st_image_close(image);
	st_image_close(full);
}

static void
dwarf_functions_of_cxx(void **state)
{
	(void)state;
	struct st_image *image = open_sample("shapes_dwarfonly"), *full = open_sample("shapes");
	size_t n, checked = 0;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++) {
		if (f[i].source != ST_SYM_DWARF)
			continue;
		const struct st_function *truth = st_image_function(full, f[i].offset);
		assert_non_null(truth);
		assert_int_equal(truth->offset, f[i].offset);
		assert_int_equal(truth->size, f[i].size);
		/*
		 * Constructors stand in DWARF as the abstract C4, D4, which no symbol is called; a
		 * function without linkage has no mangled name, so its parameters are not known.
		 */
		bool mangled = f[i].raw_name[0] == '_';
		if (mangled && !strstr(f[i].raw_name, "C4E") && !strstr(f[i].raw_name, "D4E"))
			assert_string_equal(f[i].name, truth->name);
		else if (!mangled)
			assert_non_null(strstr(truth->name, f[i].name));
		checked++;
	}
	assert_true(checked > 10);
	st_image_close(image);
	st_image_close(full);
}

/* objdump knows stubs as well: "0000000000001030 <free@plt>:". */
static void
check_stubs(const char *name)
{
	struct st_image *image = open_sample(name);
	struct output stubs =
	        run("objdump -d '%s' | grep '^[0-9a-f]* <[^>]*@plt>:' || true", sample(name));
	size_t n, mine = 0, theirs = 0;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; i < stubs.n; i++) {
		uint64_t address;
		char symbol[512];
		assert_int_equal(sscanf(stubs.line[i], "%lx <%511[^>]>:", &address, symbol), 2);
		const struct st_function *stub = st_image_function(image, address);
		assert_non_null(stub);
		assert_int_equal(stub->source, ST_SYM_PLT);
		assert_int_equal(stub->offset, address);
		if (strncmp(symbol, "*ABS*", 5) != 0)
			assert_string_equal(stub->raw_name, symbol);
		else
			assert_string_equal(stub->raw_name, "chosen@plt");
		theirs++;
	}
	for (size_t i = 0; i < n; i++)
		mine += f[i].source == ST_SYM_PLT && strcmp(f[i].name, "PLT0@plt") != 0;
	/* Of the two halves of a stub with .plt.sec objdump names only one. */
	assert_int_equal(mine, !strcmp(name, "ibt") ? 2 * theirs - 1 : theirs);
	assert_true(theirs > 3);
	output_free(&stubs);
	st_image_close(image);
}

static void
plt_stubs(void **state)
{
	static const char *const names[] = {"full", "nopie", "ibt", "libplain.so", "clang", "noid"};
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (sample_exists(names[i]))
			check_stubs(names[i]);
}

/* A static program's stubs lead to IFUNCs; objdump gives them no name, the relocation gives the
 * resolver. */
static void
plt_of_static_program(void **state)
{
	(void)state;
	struct st_image *image = open_sample("static");
	struct output slots = run("readelf -rW '%s' | grep -c IRELATIV", sample("static"));
	size_t n, stubs = 0;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++)
		stubs += f[i].source == ST_SYM_PLT;
	assert_int_equal(stubs, strtoul(slots.line[0], NULL, 10));
	function_named(image, "strlen@plt");
	function_named(image, "chosen@plt");
	output_free(&slots);
	st_image_close(image);
}

static void
plt_of_cxx_is_demangled(void **state)
{
	(void)state;
	struct st_image *image = open_sample("shapes");
	const struct st_function *f =
	        function_named(image, "operator delete(void*, unsigned long)@plt");
	assert_string_equal(f->raw_name, "_ZdlPvm@plt");
	st_image_close(image);
}

static void
vdso(void **state)
{
	(void)state;
	struct st_error e = {0};
	struct st_image *image = st_image_open("[vdso]", &e);
	assert_non_null(image);
	assert_string_equal(st_image_path(image), "[vdso]");
	check_table(image);
	const struct st_function *f = function_named(image, "clock_gettime");
	unsigned char code[16];
	assert_int_equal(st_image_bytes(image, f->offset, code, sizeof code), sizeof code);
	st_image_close(image);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(agrees_with_nm),
	        cmocka_unit_test(nothing_but_symbols_and_stubs),
	        cmocka_unit_test(aliases_and_sizes),
	        cmocka_unit_test(stripped_code_has_frames),
	        cmocka_unit_test(mini_debuginfo),
	        cmocka_unit_test(dwarf_functions),
	        cmocka_unit_test(dwarf_functions_of_cxx),
	        cmocka_unit_test(plt_stubs),
	        cmocka_unit_test(plt_of_static_program),
	        cmocka_unit_test(plt_of_cxx_is_demangled),
	        cmocka_unit_test(vdso),
	};
	use_samples(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
