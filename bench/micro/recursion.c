/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recursion as programs have it: a tree that is built, searched and folded through function
 * pointers, a backtracking search, and mutual recursion in depth. usage: recursion ROUNDS */
#include <stdio.h>
#include <stdlib.h>

struct node {
	struct node *left, *right;
	unsigned key;
};

static struct node *
insert(struct node *at, unsigned key)
{
	if (!at) {
		at = calloc(1, sizeof *at);
		if (!at)
			exit(1);
		at->key = key;
	} else if (key < at->key) {
		at->left = insert(at->left, key);
	} else {
		at->right = insert(at->right, key);
	}
	return at;
}

static unsigned
fold(const struct node *at, unsigned (*with)(unsigned, unsigned), unsigned start)
{
	if (!at)
		return start;
	return fold(at->right, with, with(fold(at->left, with, start), at->key));
}

static unsigned
mix(unsigned a, unsigned b)
{
	return (a ^ b) * 16777619u;
}

static void
release(struct node *at)
{
	if (at) {
		release(at->left);
		release(at->right);
		free(at);
	}
}

static unsigned
queens(unsigned n, unsigned row, unsigned columns, unsigned up, unsigned down)
{
	unsigned found = 0;
	if (row == n)
		return 1;
	for (unsigned c = 0; c < n; c++) {
		unsigned bit = 1u << c;
		if (!(columns & bit) && !(up >> (row + c) & 1) && !(down >> (row + n - c) & 1))
			found += queens(n, row + 1, columns | bit, up | 1u << (row + c),
			                down | 1u << (row + n - c));
	}
	return found;
}

static unsigned odd(unsigned n, unsigned *depth);

__attribute__((noinline, optimize("no-optimize-sibling-calls"))) static unsigned
even(unsigned n, unsigned *depth)
{
	++*depth;
	return n == 0 ? 1 : odd(n - 1, depth) + (n & 1);
}

__attribute__((noinline, optimize("no-optimize-sibling-calls"))) static unsigned
odd(unsigned n, unsigned *depth)
{
	++*depth;
	return n == 0 ? 0 : even(n - 1, depth) ^ (n & 2);
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	unsigned sum = 0, seed = 7, depth = 0;
	for (int r = 0; r < rounds; r++) {
		struct node *root = NULL;
		for (int i = 0; i < 20000; i++)
			root = insert(root, seed = seed * 1664525u + 1013904223u);
		sum += fold(root, mix, (unsigned)r);
		release(root);
		sum += queens(8, 0, 0, 0, 0);
		for (int i = 0; i < 20; i++)
			sum += even(10000, &depth);
	}
	printf("%u %u\n", sum, depth);
	return 0;
}
