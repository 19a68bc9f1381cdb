/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of records with random changes are read or refused with a cause, and annotations of those
 * that are read print as text that is read again. Rounds: 400, or the first argument; seed: 1, or
 * the second argument.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/analyse.h"
#include "base/random.h"
#include "base/text.h"

static uint64_t state;

static const char strobes[] =
        "#strobe-records,1\n#program,./a,\"x\"\"y\"\n#function,1,\"f(int, b)\",/a,bb,0x10\n"
        "#metric,1,time,ns\n#metric,1,n,\n#feature,1,x,number,member,value,p->x\n"
        "#feature,1,k,category\n#feature,1,z,flag,,null\n#branch,1,f+3\n#overhead,1,time,2,0.1\n"
        "#calls,1,10,8,1\n#note,a remark\n1,2.5,3,4,A,0,1,#\n1,3,4,5,B,1,0,1,#\n1,4,,6,A,0,1,#\n"
        "1,5,6,,B,1,0,#\n1,6,7,8,\"A\",0,1,#\n1,7,8,9,3,1,,#\n1,8,1e3,1,A,0,#\n1,9,2,3,B,1,1,#\n";
static const char columns[] =
        "time,n,kind\n1,2,a\n2,4,b\n3,6,a\n4,8.5,b\n5,1e1,a\n6,12,\"b\"\n7,14,\n8,16,a\n";

static size_t
mutate(const char *original, size_t n, char *mutant)
{
	static const char bytes[] = "#,\"\n\r;\t0123456789.-+eEaAxNn ";
	memcpy(mutant, original, n);
	for (size_t i = st_random_below(&state, 5); i; i--)
		mutant[st_random_below(&state, n)] =
		        st_random_below(&state, 10)
		                ? bytes[st_random_below(&state, sizeof bytes - 1)]
		                : (char)st_random_below(&state, 256);
	return st_random_below(&state, 10) ? n : st_random_below(&state, n);
}

static void
check_annotation(const struct st_ann_annotation *a)
{
	struct st_text text;
	struct st_ann_file f;
	struct st_error e = {0};
	st_ann_print(a, st_text_begin(&text), 0);
	char *v = st_text_end(&text);
	if (st_ann_parse(v, strlen(v), "printed", &f, &e)) {
		fprintf(stderr, "%s\n%s\n", e.text, v);
		exit(1);
	}
	st_ann_file_free(&f);
	free(v);
}

int
main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 400;
	int read = 0, analysed = 0;
	char mutant[sizeof strobes + sizeof columns];
	state = argc > 2 ? (uint64_t)atoi(argv[2]) : 1;
	for (int i = 0; i < rounds; i++) {
		const bool own = i % 2;
		const size_t n = own ? mutate(strobes, sizeof strobes - 1, mutant)
		                     : mutate(columns, sizeof columns - 1, mutant);
		const struct st_ann_options options = {0};
		struct st_ann_data d = {0};
		struct st_error e = {0};
		const bool good = !st_ann_data_take(&d, mutant, n, "t", NULL, &e);
		if (!good && !*e.text) {
			fprintf(stderr, "refused without a cause\n");
			return 1;
		}
		read += good;
		for (size_t f = 0; good && f < d.functions.n; f++)
			for (size_t m = 0; m < d.functions.v[f].metrics.n; m++) {
				struct st_ann_annotation a;
				if (!st_ann_analyse(&d.functions.v[f], m, &options, &a, &e)) {
					check_annotation(&a);
					analysed++;
				}
				st_ann_annotation_free(&a);
			}
		st_ann_data_free(&d);
	}
	printf("%d of %d mutants were read, %d metrics analysed\n", read, rounds, analysed);
	return !analysed;
}
