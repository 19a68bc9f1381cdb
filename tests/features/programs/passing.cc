// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that take or return classes by value: some in registers, some by the address of a copy.
// Each is called with n from 3 to 8.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#define TARGET __attribute__((noinline, noclone))
// Long enough for a probe.
#define HIDE(n) __asm__ volatile(".rept 16; nop; .endr" : : "r"(n) : "memory")

struct Trivial {
	int a;
	long b;
};
struct Defaulted {
	int a;
	Defaulted() = default;
	Defaulted(const Defaulted &) = default;
	Defaulted &operator=(const Defaulted &) = default;
	~Defaulted() = default;
};
struct DefaultedOutside {
	int a;
	DefaultedOutside() = default;
	DefaultedOutside(const DefaultedOutside &);
};
DefaultedOutside::DefaultedOutside(const DefaultedOutside &) = default;
struct Converts { // a template is no copy constructor
	int a;
	Converts() = default;
	template <class U> Converts(const U &u) : a(u)
	{
	}
};
struct MoveOnly {
	int a;
	MoveOnly() = default;
	MoveOnly(const MoveOnly &) = delete;
	MoveOnly(MoveOnly &&) = default;
};
struct NoCopy {
	int a;
	NoCopy() = default;
	NoCopy(const NoCopy &) = delete;
};
struct Virtual {
	int a = 1;
	virtual int f()
	{
		return a;
	}
};
struct VirtualBase : virtual Trivial {
	int z = 0;
};
struct Config {
	std::string name;
	int level;
};
struct Shares {
	std::shared_ptr<int> p;
};
struct Derived : Shares {
	int k;
};
struct Elements {
	Shares v[1];
};
union Number {
	int a;
	double d;
};

#define TAKES(name, ...)                                                                           \
	TARGET void takes_##name(__VA_ARGS__, int n)                                               \
	{                                                                                          \
		HIDE(n);                                                                           \
	}
#define RETURNS(name, ...)                                                                         \
	TARGET __VA_ARGS__ returns_##name(int n)                                                   \
	{                                                                                          \
		HIDE(n);                                                                           \
		return __VA_ARGS__();                                                              \
	}

TAKES(trivial, Trivial)
TAKES(defaulted, Defaulted)
TAKES(outside, DefaultedOutside)
TAKES(converts, Converts)
TAKES(move_only, MoveOnly)
TAKES(no_copy, NoCopy)
TAKES(virtual, Virtual)
TAKES(virtual_base, VirtualBase)
TAKES(config, Config)
TAKES(shares, Shares)
TAKES(derived, Derived)
TAKES(elements, Elements)
TAKES(number, Number)
TAKES(shared, std::shared_ptr<std::string>)
TAKES(weak, std::weak_ptr<int>)
TAKES(unique, std::unique_ptr<std::string>)
TAKES(function, std::function<int(int)>)
TAKES(optional, std::optional<int>)
TAKES(optional_text, std::optional<std::string>)
TAKES(pair, std::pair<int, int>)
TAKES(pair_text, std::pair<std::string, int>)
TAKES(tuple, std::tuple<int, int>)
TAKES(variant, std::variant<int, double>)
TAKES(variant_text, std::variant<int, std::string>)
TAKES(vector, std::vector<int>)

RETURNS(trivial, Trivial)
RETURNS(no_copy, NoCopy)
RETURNS(config, Config)
RETURNS(shares, Shares)
RETURNS(shared, std::shared_ptr<std::string>)
RETURNS(unique, std::unique_ptr<std::string>)
RETURNS(optional, std::optional<int>)
RETURNS(pair, std::pair<int, int>)
RETURNS(tuple, std::tuple<int, int>)
RETURNS(number, Number)

TARGET void
reads(Config c, MoveOnly m, Trivial t, int n)
{
	HIDE(n);
}

int
main(int argc, char **)
{
	if (argc > 100)
		throw argc; // so that the program imports the unwinder
	for (int n = 3; n < 9; n++) {
		takes_trivial({}, n);
		takes_defaulted({}, n);
		takes_outside({}, n);
		takes_converts({}, n);
		takes_move_only({}, n);
		takes_no_copy({}, n);
		takes_virtual({}, n);
		takes_virtual_base({}, n);
		takes_config({}, n);
		takes_shares({}, n);
		takes_derived({}, n);
		takes_elements({}, n);
		takes_number({}, n);
		takes_shared({}, n);
		takes_weak({}, n);
		takes_unique({}, n);
		takes_function({}, n);
		takes_optional({}, n);
		takes_optional_text({}, n);
		takes_pair({}, n);
		takes_pair_text({}, n);
		takes_tuple({}, n);
		takes_variant({}, n);
		takes_variant_text({}, n);
		takes_vector({}, n);
		returns_trivial(n);
		returns_no_copy(n);
		returns_config(n);
		returns_shares(n);
		returns_shared(n);
		returns_unique(n);
		returns_optional(n);
		returns_pair(n);
		returns_tuple(n);
		returns_number(n);
		MoveOnly m;
		m.a = 3 * n;
		reads({"", 2 * n}, std::move(m), {4 * n, 5 * n}, n);
	}
	return 0;
}
