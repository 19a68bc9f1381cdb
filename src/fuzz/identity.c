/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inputs that determine the results of a campaign: words NAME=VALUE, a name of several values
 * several times. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/journal.h"
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
write_word(const char *name, const char *text, FILE *out)
{
	fprintf(out, " %s=", name);
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

static const char *const strategy_names[] = {
#define S(id, name) name,
        ST_FUZZ_STRATEGIES(S)
#undef S
};
static const char *const channel_names[] = {"stdin", "file", "argument"};

static void
write_identity(const struct st_fuzz_target *target, const struct st_fuzz_rules *rules,
               const struct st_fuzz_campaign_choice *choice, const struct st_fuzz_bytes *seeds,
               size_t n_seeds, FILE *out)
{
	fprintf(out,
	        "fuzz=edges-2 seed=%llu seeds=%zu:%016llx rate=%g size=%zu size-ratio=%g hang=%g",
	        (unsigned long long)choice->seed, n_seeds,
	        (unsigned long long)hash_of_inputs(seeds, n_seeds), choice->rate,
	        choice->most_bytes, choice->size_ratio, target->hang_seconds);
	fprintf(out, " strategy=%s as=%s coverage=%s program=%016llx",
	        strategy_names[choice->strategy], channel_names[target->channel],
	        target->paths ? "paths" : "sum",
	        (unsigned long long)hash_of_program(target->argv[0]));
	for (size_t i = 0; i < rules->builtin.n; i++)
		write_word("rule", st_rules_name(rules, rules->user.n + i), out);
	for (size_t i = 0; i < rules->user.n; i++) {
		write_word("expression", st_rules_name(rules, i), out);
		write_word("expression", rules->user.v[i].replacement, out);
	}
	fprintf(out, " tokens=%zu:%016llx", rules->tokens.n,
	        (unsigned long long)hash_of_inputs(rules->tokens.v, rules->tokens.n));
	if (target->channel != ST_CHANNEL_STDIN)
		fprintf(out, " at=%zu", target->at);
	for (char *const *word = target->argv; *word; word++)
		write_word("word", *word, out);
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
	write_identity(target, rules, choice, seeds, n_seeds, out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* ---- comparison ---- */

/* The user's name for a word of the identity. value: the word has the value that the user gave to
 * the option. */
static const struct identity_part {
	const char *name, *what;
	bool value;
} identity_parts[] = {
        {"fuzz", "the version of strobe", false},
        {"seed", "--seed", true},
        {"seeds", "the content of the seeds (--seeds)", false},
        {"rate", "--rate", true},
        {"size", "--size", true},
        {"size-ratio", "--size-ratio", true},
        {"hang", "--hang", true},
        {"strategy", "--strategy", true},
        {"as", "--as", true},
        {"coverage", "--coverage", true},
        {"program", "the content of the program", false},
        {"rule", "the set of rules (--rules)", false},
        {"expression", "the option --regex", false},
        {"tokens", "the content of the --dictionary", false},
        {"at", "the command", false},
        {"word", "the command", false},
};

static const struct identity_part *
identity_part_of(const char *word)
{
	const size_t n = strcspn(word, "= ");
	for (size_t i = 0; i < sizeof identity_parts / sizeof *identity_parts; i++)
		if (strlen(identity_parts[i].name) == n &&
		    !strncmp(identity_parts[i].name, word, n))
			return &identity_parts[i];
	return &identity_parts[0];
}

/* Where the first word is that differs; both are at its beginning, or at the end of the text. */
static void
find_difference(const char **before, const char **now)
{
	const char *b = *before, *n = *now;
	size_t last = 0;
	for (size_t i = 0; b[i] && b[i] == n[i]; i++)
		last = b[i] == ' ' ? i + 1 : last;
	*before = b + last;
	*now = n + last;
}

/* Of two words with different names, the one that comes first in identities: the other text has
 * fewer values of that name. */
static const struct identity_part *
differing_part(const char *before, const char *now)
{
	const struct identity_part *a = identity_part_of(before), *b = identity_part_of(now);
	return !*before || (*now && b < a) ? b : a;
}

st_status
st_fuzz_identity_check(const char *journal, const char *identity, struct st_error *e)
{
	char *kept = st_journal_identity(journal);
	const char *before = kept, *now = identity;
	if (!kept || !strcmp(kept, identity)) {
		free(kept);
		return ST_OK; /* or the journal itself says what is wrong */
	}
	find_difference(&before, &now);
	const struct identity_part *part = differing_part(before, now);
	if (part->value && identity_part_of(before) == identity_part_of(now)) {
		const size_t name = strlen(part->name) + 1;
		st_cause(e, ST_EXIT_FAILED,
		         "cannot resume the campaign of %s: %s was %.*s and is now %.*s; use the "
		         "same as before, or name another folder with -o",
		         journal, part->what, (int)strcspn(before + name, " "), before + name,
		         (int)strcspn(now + name, " "), now + name);
	} else {
		st_cause(
		        e, ST_EXIT_FAILED,
		        "cannot resume the campaign of %s: %s has changed; use the same as before, "
		        "or name another folder with -o",
		        journal, part->what);
	}
	free(kept);
	return ST_FAILED;
}
