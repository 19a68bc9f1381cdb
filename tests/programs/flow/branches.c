/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every conditional branch, setcc and cmovcc under every combination of flags, the loop
 * instructions and jrcxz with the counts that matter: each must go the way the manual says and
 * change nothing but rcx.
 */
/* strobe-test: */
#include "state.h"
#include <stdbool.h>

static bool
condition(const char *cc)
{
	bool c = want_flags & 0x1, p = want_flags & 0x4, z = want_flags & 0x40,
	     s = want_flags & 0x80, o = want_flags & 0x800;
	const struct {
		const char *name;
		bool holds;
	} table[] = {{"o", o},   {"b", c},   {"e", z},       {"be", c || z},
	             {"s", s},   {"p", p},   {"l", s != o},  {"le", z || s != o},
	             {"no", !o}, {"ae", !c}, {"ne", !z},     {"a", !c && !z},
	             {"ns", !s}, {"np", !p}, {"ge", s == o}, {"g", !z && s == o}};

	for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
		if (!strcmp(table[i].name, cc))
			return table[i].holds;
	CHECK(0, "no condition %s", cc);
}

/* What a loop or jrcxz should do: sets the rcx that it leaves, tells whether it is taken. */
static bool
counted(const char *name, const char *count)
{
	bool narrow = !strcmp(name, "loopl"), zero = want_flags & 0x40;
	uint64_t rcx = strcmp(count, "h") ? strtoull(count, NULL, 10) : 0x100000000;

	if (!strcmp(name, "jecxz") || !strcmp(name, "jrcxz")) {
		if (!strcmp(name, "jecxz") && *count == 'h')
			rcx = 0x700000000;
		want[1] = rcx;
		return name[1] == 'e' ? !(uint32_t)rcx : !rcx;
	}
	if (narrow && *count == 'h')
		rcx = 0x500000002;
	want[1] = narrow ? (uint32_t)(rcx - 1) : rcx - 1;
	if (!strcmp(name, "loope"))
		return want[1] && zero;
	if (!strcmp(name, "loopne"))
		return want[1] && !zero;
	return want[1];
}

static void
expect(const char *name)
{
	char first[32];
	const char *split = strchr(name, '_');

	snprintf(first, sizeof first, "%.*s", (int)(split - name), name);
	if (!strncmp(first, "loop", 4) || !strcmp(first + 2, "cxz"))
		want[3] = counted(first, split + 1);
	else
		want[3] = condition(split + 1);
}

int
main(void)
{
	unsigned n = 0;

	for (const struct test *t = __start_test_table; t < __stop_test_table; t++, n++) {
		for (unsigned combination = 0; combination < FLAG_COMBINATIONS; combination++) {
			set_values(combination);
			expect(t->name);
			t->run();
			compare(t->name);
		}
	}
	printf("%u conditional instructions go the right way\n", n);
	return 0;
}
