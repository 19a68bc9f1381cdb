/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inputs that determine the results of a campaign. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/campaign.h"

static uint64_t
add_to_hash(uint64_t hash, const void *bytes, size_t n)
{
	const uint8_t *b = bytes;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ b[i]) * 0x100000001b3u; /* FNV-1a */
	return hash;
}

static const uint64_t hash_begin = 0xcbf29ce484222325u;

static uint64_t
hash_of_file(const char *path)
{
	uint8_t part[1 << 16];
	uint64_t hash = hash_begin;
	FILE *file = fopen(path, "rbe");
	for (size_t n; file && (n = fread(part, 1, sizeof part, file)) > 0;)
		hash = add_to_hash(hash, part, n);
	if (file)
		fclose(file);
	return hash;
}

/* The content of the program, looked up as execvp does; one that is not found hashes as empty. */
static uint64_t
hash_of_program(const char *name)
{
	const char *path = getenv("PATH");
	char *copy = strdup(path && !strchr(name, '/') ? path : ""), *rest = copy, *whole = NULL;
	uint64_t hash = hash_begin;
	if (strchr(name, '/'))
		hash = hash_of_file(name);
	for (char *folder; copy && *copy && hash == hash_begin && (folder = strsep(&rest, ":"));
	     free(whole)) {
		if (asprintf(&whole, "%s/%s", *folder ? folder : ".", name) < 0)
			break;
		if (!access(whole, X_OK))
			hash = hash_of_file(whole);
	}
	free(copy);
	return hash;
}

static void
write_word(const char *text, FILE *out)
{
	fputc(' ', out);
	st_fuzz_write_escaped(text, out);
}

static uint64_t
hash_of_inputs(const struct st_fuzz_bytes *inputs, size_t n)
{
	uint64_t hash = hash_begin;
	for (size_t i = 0; i < n; i++) {
		hash = add_to_hash(hash, &inputs[i].n, sizeof inputs[i].n);
		hash = add_to_hash(hash, inputs[i].v, inputs[i].n);
	}
	return hash;
}

char *
st_fuzz_identity(const struct st_fuzz_target *target, const struct st_fuzz_rules *rules,
                 const struct st_fuzz_campaign_choice *choice, const struct st_fuzz_bytes *seeds,
                 size_t n_seeds)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	fprintf(out, "fuzz edges seed=%llu seeds=%zu:%016llx rate=%g size=%zu ratio=%g hang=%g",
	        (unsigned long long)choice->seed, n_seeds,
	        (unsigned long long)hash_of_inputs(seeds, n_seeds), choice->rate,
	        choice->most_bytes, choice->size_ratio, target->hang_seconds);
	fprintf(out, " strategy=%d as=%d@%zu program=%016llx rules", (int)choice->strategy,
	        (int)target->channel, target->at,
	        (unsigned long long)hash_of_program(target->argv[0]));
	for (size_t i = 0; i < st_rules_count(rules); i++)
		write_word(st_rules_name(rules, i), out);
	for (size_t i = 0; i < rules->user.n; i++)
		write_word(rules->user.v[i].replacement, out);
	if (rules->tokens.n)
		fprintf(out, " tokens=%zu:%016llx", rules->tokens.n,
		        (unsigned long long)hash_of_inputs(rules->tokens.v, rules->tokens.n));
	if (target->paths)
		fputs(" coverage=paths", out);
	fputs(" --", out);
	for (char *const *word = target->argv; *word; word++)
		write_word(*word, out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
