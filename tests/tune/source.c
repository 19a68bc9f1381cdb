/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What test_search.py has as a metric: source FOLDER. While a run is under way, whose number is in
 * the file `run`, prints the value that `values` has for it, again whenever the last one has been
 * read. `values` has lines "RUN VALUE", and the last one, "else VALUE", is for all others; VALUE is
 * "none" where nothing is printed. It is a small program, so that a loaded machine starts it at
 * once. */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static void
nap(long ms)
{
	nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

/* Returns whether there is a run. */
static int
read_word(const char *name, char word[64])
{
	FILE *file = fopen(name, "r");
	int n = file ? fscanf(file, "%63s", word) : 0;
	if (file)
		fclose(file);
	return n == 1;
}

static int
find_value(const char *run, char value[64])
{
	char word[64];
	int found = 0;
	FILE *file = fopen("values", "r");
	while (file && !found && fscanf(file, "%63s %63s", word, value) == 2)
		found = !strcmp(word, run) || !strcmp(word, "else");
	if (file)
		fclose(file);
	return found && strcmp(value, "none") != 0;
}

/* One more value has been read. */
static int
count(void)
{
	int n = 0;
	FILE *file = fopen("given", "r");
	int status = file && fscanf(file, "%d", &n) == 1 ? 0 : -1;
	if (file)
		fclose(file);
	if (!status && !(file = fopen("given.new", "w")))
		return -1;
	if (!status && (fprintf(file, "%d\n", n + 1) < 0 || fclose(file)))
		return -1;
	return status ? status : rename("given.new", "given");
}

int
main(int argc, char **argv)
{
	char run[64], value[64];
	if (argc != 2 || chdir(argv[1]))
		return 2;
	for (;;) {
		int unread;
		if (!read_word("run", run) || !find_value(run, value)) {
			nap(5);
			continue;
		}
		if (printf("%s\n", value) < 0 || fflush(stdout))
			return 1;
		while (!ioctl(STDOUT_FILENO, FIONREAD, &unread) && unread)
			nap(2);
		if (count())
			return 1;
	}
}
