// SPDX-License-Identifier: GPL-2.0-or-later

// Stacks that grow from their smallest size, over and over: each growth runs a function's entry
// twice. Frames of each size that the compiler checks the stack for in a way of its own.
package main

import (
	"fmt"
	"runtime"
)

var smalls, middles, hugesCalled, leaves, saves int64

//go:noinline
func leaf(x int) int {
	leaves++
	return x + 1
}

//go:noinline
func small(depth int) int {
	smalls++
	if depth == 0 {
		return leaf(depth)
	}
	return small(depth-1) + 1
}

//go:noinline
func middle(depth int) int {
	var room [512]byte
	middles++
	room[depth%len(room)] = byte(depth)
	if depth == 0 {
		return leaf(depth)
	}
	return middle(depth-1) + int(room[depth%len(room)]-byte(depth)) + 1
}

//go:noinline
func huge(depth int) int {
	var room [70000]byte
	hugesCalled++
	room[depth] = byte(depth)
	if depth == 0 {
		return leaf(depth)
	}
	return huge(depth-1) + int(room[depth]-byte(depth)) + 1
}

// All registers hold arguments, which are to be saved and restored while the stack grows.
//
//go:noinline
func save(a, b, c, d, e, f, g, h, i int, x, y, z float64) int {
	var room [300]byte
	saves++
	room[a%len(room)] = byte(a)
	if a == 0 {
		return b + c + d + e + f + g + h + i + int(x+y+z)
	}
	return save(a-1, b, c, d, e, f, g, h, i, x, y, z) + int(room[a%len(room)]-byte(a))
}

func main() {
	begin()
	rounds, depth := arg(0, 50), arg(1, 200)
	sum := 0
	for i := 0; i < rounds; i++ {
		done := make(chan int)
		go func() { done <- small(depth * 10) }()
		sum += <-done
		go func() {
			deep := middle(depth)
			runtime.GC() // halves the stack
			done <- deep + middle(depth/2) + middle(depth*2)
		}()
		sum += <-done
		go func() { done <- huge(i % 10) }()
		sum += <-done
		go func() { done <- save(depth, 1, 2, 3, 4, 5, 6, 7, 8, 1.5, 2.5, 3) }()
		sum += <-done
	}
	fmt.Println("sum", sum)
	count("main.leaf", leaves)
	count("main.small", smalls)
	count("main.middle", middles)
	count("main.huge", hugesCalled)
	count("main.save", saves)
}
