/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generates three functions, runs them, then writes their names for perf: jit [fork|silent|again].
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* mov %edi,%eax; 1: dec %eax; jnz 1b; ret */
static const unsigned char code[] = {0x89, 0xf8, 0xff, 0xc8, 0x75, 0xfc, 0xc3};
enum { APART = 64 };

static void
call(unsigned char *page, int function, int times)
{
	int (*run)(int) = NULL;
	unsigned char *start = page + APART * function;
	memcpy(&run, &start, sizeof run);
	while (times--)
		run(100);
}

static int
write_names(uintptr_t page)
{
	char path[64];
	snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
	FILE *f = fopen(path, "w");
	if (!f)
		return 1;
	fprintf(f, "%lx c0 whole_page\n", page);
	fprintf(f, "no line of this kind\n\n%lx\nzz 10 not_hex\n%lx 0 empty\n", page, page);
	fprintf(f, "%lx 40 second\n", page + APART);
	fprintf(f, "0x%lx 0x40 JS:~third name file.js:3:4\n", page + 2UL * APART);
	fprintf(f, "ffffffffffffffff 10 beyond\n%lx 40 cut_off", page);
	return fclose(f) != 0;
}

int
main(int argc, char **argv)
{
	/* The same place in each run. */
	unsigned char *page = mmap((void *)0x100000000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 1;
	for (int i = 0; i < 3; i++)
		memcpy(page + i * APART, code, sizeof code);
	call(page, 0, 3);
	call(page, 1, 5);
	call(page, 2, 7);
	if (argc > 1 && !strcmp(argv[1], "fork")) {
		if (fork() == 0) {
			call(page, 1, 11);
			_exit(0);
		}
		wait(NULL);
	}
	if (argc > 1 && !strcmp(argv[1], "silent"))
		return 0;
	if (argc > 1 && !strcmp(argv[1], "again")) {
		if (fork() == 0) {
			execl("/proc/self/exe", argv[0], "silent", NULL);
			_exit(1);
		}
		wait(NULL);
	}
	return write_names((uintptr_t)page);
}
