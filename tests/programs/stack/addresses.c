/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a program can learn of its own code: return addresses lie behind calls in its own text,
 * backtrace() names its own functions, its code bytes are those of its file, and dladdr agrees.
 */
/* strobe-test: */
#include "check.h"
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

extern const char __executable_start[], etext[];

__attribute__((noipa)) static void *
own_return(void)
{
	void *address = __builtin_return_address(0);
	CHECK((char *)address > __executable_start && (const char *)address < etext,
	      "return address %p is outside the text", address);
	CHECK(((unsigned char *)address)[-5] == 0xe8 || ((unsigned char *)address)[-2] == 0xff ||
	              ((unsigned char *)address)[-3] == 0xff,
	      "no call in front of return address %p", address);
	return address;
}

void inner_function(int depth), outer_function(int depth);

__attribute__((noinline)) void
inner_function(int depth)
{
	void *frames[64];
	int n = backtrace(frames, 64), found[3] = {0};
	char **names = backtrace_symbols(frames, n);

	CHECK(n > depth + 2, "backtrace has only %d frames", n);
	for (int i = 0; i < n; i++) {
		found[0] += strstr(names[i], "inner_function") != NULL;
		found[1] += strstr(names[i], "outer_function") != NULL;
		found[2] += strstr(names[i], "(main+") != NULL;
	}
	CHECK(found[0] == 1 && found[1] == depth + 1 && found[2] == 1,
	      "backtrace shows inner %d, outer %d, main %d times", found[0], found[1], found[2]);
	free(names);
}

__attribute__((noinline)) void
outer_function(int depth)
{
	if (depth)
		outer_function(depth - 1);
	else
		inner_function(10);
	__asm__ volatile(""); /* no tail call */
}

static void
text_is_the_files(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat info;

	CHECK(fd >= 0 && !fstat(fd, &info), "cannot open own file");
	char *file = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(file != MAP_FAILED, "cannot map own file");
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)file;
	const Elf64_Phdr *p = (const Elf64_Phdr *)(file + h->e_phoff);
	uint64_t base = h->e_type == ET_DYN ? (uintptr_t)__executable_start : 0;
	int checked = 0;

	for (int i = 0; i < h->e_phnum; i++) {
		if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_X))
			continue;
		CHECK(!memcmp((const char *)(base + p[i].p_vaddr), file + p[i].p_offset,
		              p[i].p_filesz),
		      "code in memory is not that of the file");
		checked++;
	}
	CHECK_EQ(checked, 1);
	munmap(file, (size_t)info.st_size);
	close(fd);
}

int
main(void)
{
	void *first = own_return(), *second = own_return();
	Dl_info info;

	CHECK(first != second, "two call sites, one return address");
	CHECK(dladdr((void *)(uintptr_t)outer_function, &info) && info.dli_sname &&
	              !strcmp(info.dli_sname, "outer_function"),
	      "dladdr");
	outer_function(10);
	text_is_the_files();
	puts("the program sees its own code and addresses");
	return 0;
}
