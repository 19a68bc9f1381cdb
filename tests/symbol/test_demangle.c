/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support.h"

static void
gives(const char *mangled, const char *plain)
{
	char *name = st_demangle(mangled);
	if (!plain) {
		assert_null(name);
		return;
	}
	assert_non_null(name);
	assert_string_equal(name, plain);
	free(name);
}

static void
cxx(void **state)
{
	(void)state;
	gives("_Z3foov", "foo()");
	gives("_ZN3foo3barEi", "foo::bar(int)");
	gives("_ZNSt6vectorIiSaIiEE9push_backERKi",
	      "std::vector<int, std::allocator<int> >::push_back(int const&)");
	gives("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const");
	gives("_Z3foov.cold", "foo() [clone .cold]");
	gives("_ZTV5Shape", "vtable for Shape");
}

static void
rust(void **state)
{
	(void)state;
	gives("_ZN4core3fmt9Formatter3pad17h1d9bd0bfc4d8e6d5E", "core::fmt::Formatter::pad");
	gives("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar"
	      "17h0123456789abcdefE",
	      "<Test + 'static as foo::Bar<Test>>::bar");
	gives("_RNvC6_123foo3bar", "123foo::bar");
	gives("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
}

static void
not_mangled(void **state)
{
	(void)state;
	gives("", NULL);
	gives("_", NULL);
	gives("main", NULL);
	gives("_start", NULL);
	gives("_Z", NULL);
	gives("_R", NULL);
	gives("_Zebra", NULL);
	gives("_ZN3fooE3bar_garbage\xff", NULL);
	gives("__libc_start_main", NULL);
}

/* Each pair stands for two of the pair before it: 2^36 characters in the end. */
static void
name_that_explodes(void **state)
{
	(void)state;
	char name[1024] = "_Z1fSt4pairIiiE";
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	for (int i = 0; i < 36; i++) {
		char piece[16];
		snprintf(piece, sizeof piece, "S_IS%c_S%c_E", digits[i], digits[i]);
		strcat(name, piece);
		/* The first ones are short enough to be printed. */
		if (i == 3) {
			char *plain = st_demangle(name);
			assert_non_null(plain);
			free(plain);
		}
	}
	assert_null(st_demangle(name));
}

static void
deep_nesting(void **state)
{
	(void)state;
	static char name[200000] = "_Z1f";
	memset(name + 4, 'P', sizeof name - 6);
	name[sizeof name - 2] = 'i';
	free(st_demangle(name));
	memcpy(name, "_RNv", 4);
	memset(name + 4, 'N', sizeof name - 6);
	free(st_demangle(name));
}

/* The same as nm -C, for every name in a program. */
static void
agrees_with_nm(const char *name, size_t least)
{
	struct nm_symbols symbols = nm_code(sample(name), "");
	size_t mangled = 0;
	for (size_t i = 0; i < symbols.n; i++) {
		const struct nm_symbol *s = &symbols.v[i];
		if (strchr(s->raw, '@'))
			continue;
		if (!strcmp(s->raw, s->plain)) {
			gives(s->raw, NULL);
			continue;
		}
		gives(s->raw, s->plain);
		mangled++;
	}
	assert_true(mangled >= least);
	nm_free(&symbols);
}

static void
whole_programs(void **state)
{
	(void)state;
	agrees_with_nm("shapes", 10);
	if (sample_exists("rust_v0"))
		agrees_with_nm("rust_v0", 300);
	if (sample_exists("rust_legacy"))
		agrees_with_nm("rust_legacy", 300);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(cxx),          cmocka_unit_test(rust),
	        cmocka_unit_test(not_mangled),  cmocka_unit_test(name_that_explodes),
	        cmocka_unit_test(deep_nesting), cmocka_unit_test(whole_programs),
	};
	use_samples(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
