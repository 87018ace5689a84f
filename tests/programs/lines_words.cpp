// SPDX-License-Identifier: GPL-2.0-or-later
/* C++ from line to line: templates, lambdas, objects that end, exceptions, the standard library's
 * code in it. gcov counts its lines as well: see tests/e2e/test_lines.py. Takes the number of
 * words. */
// clang-format off
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static unsigned int sum;

struct Guard {
	explicit Guard(int n) : n(n) { sum += n; }
	~Guard()
	{
		sum ^= n;
	}
	int n;
};

struct Shape {
	virtual ~Shape() = default;
	virtual int area() const = 0;
};

struct Square : Shape {
	explicit Square(int side) : side(side) {}
	int area() const override { return side * side; }
	int side;
};

struct Strip : Shape {
	explicit Strip(int length) : length(length) {}
	int area() const override
	{
		return length;
	}
	int length;
};

template <typename T>
static T largest(const std::vector<T> &items)
{
	T best = items.front();
	for (const T &item : items)
		if (best < item)
			best = item;
	return best;
}

static int parse(const std::string &word)
{
	Guard guard(word.size());
	int n = 0;

	for (char c : word) {
		if (c < '0' || c > '9')
			throw std::invalid_argument("not a number: " +
						    word);
		n = n * 10 + (c - '0');
	}
	return n;
}

static int parse_or(const std::string &word, int otherwise)
{
	try {
		Guard guard(1);
		return parse(word);
	} catch (const std::invalid_argument &e) {
		sum += e.what()[0];
		return otherwise;
	}
}

static std::vector<std::string> words(int cnt)
{
	std::vector<std::string> all;

	for (int i = 0; i < cnt; i++)
		all.push_back(i % 3 ? std::to_string(i * i)
				    : "w" + std::to_string(i));
	return all;
}

int main(int argc, char **argv)
{
	int cnt = argc > 1 ? std::atoi(argv[1]) : 10;
	std::vector<std::string> all = words(cnt);
	std::map<std::string, int> seen;
	std::vector<int> numbers;
	std::vector<std::unique_ptr<Shape>> shapes;

	for (const auto &word : all) {
		seen[word]++;
		numbers.push_back(parse_or(word, -1));
	}
	std::sort(numbers.begin(), numbers.end(), [](int a, int b) {
		return a > b;
	});
	for (int n : numbers) {
		if (n & 1)
			shapes.push_back(std::make_unique<Square>(n % 10));
		else
			shapes.push_back(std::make_unique<Strip>(n));
	}
	for (const auto &shape : shapes)
		sum += shape->area();
	sum += largest(numbers) + seen.size() + largest(all).size();
	std::printf("%u\n", sum);
	return 0;
}
