// SPDX-License-Identifier: GPL-3.0-or-later
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace shapes
{
template <typename T> struct Box {
	T value;
	__attribute__((noinline)) T grow(T by) const
	{
		return value + by;
	}
	Box &operator+=(const Box &other)
	{
		value += other.value;
		return *this;
	}
};

class Shape
{
public:
	virtual ~Shape() = default;
	virtual double area() const = 0;
};

class Square : public Shape
{
	double side;

public:
	explicit Square(double s) : side(s)
	{
	}
	double area() const override
	{
		return side * side;
	}
};

namespace
{
__attribute__((noinline)) int
hidden(const std::vector<std::string> &names)
{
	std::map<std::string, int> counts;
	for (const auto &name : names)
		counts[name]++;
	if (counts.size() > 100)
		throw std::string("too many");
	return static_cast<int>(counts.size());
}
} // namespace
} // namespace shapes

int
main(int argc, char **argv)
{
	std::vector<std::string> names(argv, argv + argc);
	shapes::Box<int> box{argc};
	box += shapes::Box<int>{2};
	shapes::Shape *shape = new shapes::Square(3);
	auto twice = [&](int x) { return x * 2 + box.grow(x); };
	std::cout << twice(shapes::hidden(names)) + shape->area() << "\n";
	delete shape;
	return 0;
}
