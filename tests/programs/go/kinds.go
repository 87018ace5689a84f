// SPDX-License-Identifier: GPL-2.0-or-later

// Functions of every kind that Go has, under the names that it gives them.
package main

import (
	"fmt"
	"reflect"
	"sort"
)

var adds, areas, sums, colds, defers, closures, equals, lesses, mades int64

type shape interface{ area() int }

type square struct{ side int }

//go:noinline
func (s square) area() int {
	areas++
	return s.side * s.side
}

type counter struct {
	square
	total int
}

//go:noinline
func (c *counter) add(n int) *counter {
	adds++
	c.total += n
	return c
}

type number interface{ ~int | ~float64 | ~string }

//go:noinline
func sum[T number](values []T) (total T) {
	sums++
	for _, value := range values {
		total += value
	}
	return total
}

// Compilers of C call the unlikely part of a function `main` so.
//
//go:noinline
func cold(n int) int {
	colds++
	return n ^ 5
}

//go:noinline
func deferred(out *int) {
	defers++
	*out++
}

//go:noinline
func useDefer(n int) (out int) {
	for i := 0; i < n; i++ {
		defer deferred(&out)
	}
	defer deferred(&out)
	return n
}

type byLast []string

func (b byLast) Len() int      { return len(b) }
func (b byLast) Swap(i, j int) { b[i], b[j] = b[j], b[i] }

//go:noinline
func (b byLast) Less(i, j int) bool {
	lesses++
	return b[i][len(b[i])-1] < b[j][len(b[j])-1]
}

//go:noinline
func apply(f func(int) int, n int) int {
	return f(n)
}

func main() {
	begin()
	rounds := arg(0, 100)
	c := &counter{square: square{3}}
	words := byLast{"one", "two", "three", "four", "five"}
	base := len(words)
	closure := func(n int) int {
		closures++
		return n + base
	}
	made := reflect.MakeFunc(reflect.TypeOf(closure), func(in []reflect.Value) []reflect.Value {
		mades++
		return []reflect.Value{reflect.ValueOf(cold(int(in[0].Int())))}
	}).Interface().(func(int) int)
	total := 0
	for i := 0; i < rounds; i++ {
		var s shape = c // by the wrapper (*counter).area
		total += s.area() + c.add(i).total%7
		s = square{i}
		total += s.area()
		add := c.add
		add(1)
		total += sum([]int{i, 1, 2}) + int(sum([]float64{0.5, 1.5})) + len(sum([]string{"a", "b"}))
		total += cold(i) + useDefer(i%4) + apply(closure, i) + made(i)
		sort.Sort(words)
		if any(*c) == any(counter{square{3}, -1}) { // by type:.eq
			equals++
		}
	}
	fmt.Println("total", total, equals, words, mades)
	count("main.square.area", areas)
	count("main.(*counter).add", adds)
	count("main.sum[...]", sums)
	count("main.cold", colds)
	count("main.deferred", defers)
	count("main.byLast.Less", lesses)
	count(nameOf(closure), closures)
}
