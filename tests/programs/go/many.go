// SPDX-License-Identifier: GPL-2.0-or-later

// Goroutines by the thousand that hand each other work while the garbage collector runs.
package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

type node struct {
	next  *node
	value int
}

var steps, links, works int64

//go:noinline
func step(x int) int {
	atomic.AddInt64(&steps, 1)
	return x*7 + 1
}

//go:noinline
func link(list *node, value int) *node {
	atomic.AddInt64(&links, 1)
	return &node{list, value}
}

//go:noinline
func work(in <-chan int, out chan<- int, rounds int) {
	var list *node
	atomic.AddInt64(&works, 1)
	for i := 0; i < rounds; i++ {
		list = link(list, step(i))
		if i%3 == 0 {
			runtime.Gosched()
		}
	}
	sum := <-in
	for ; list != nil; list = list.next {
		sum += list.value % 10
	}
	out <- sum
}

func main() {
	begin()
	goroutines, rounds := arg(0, 10000), arg(1, 10)
	debug.SetGCPercent(10)
	var collector sync.WaitGroup
	stop := make(chan bool)
	collector.Add(1)
	go func() {
		defer collector.Done()
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	first := make(chan int)
	in := first
	for i := 0; i < goroutines; i++ {
		out := make(chan int)
		go work(in, out, rounds)
		in = out
	}
	first <- 0
	fmt.Println("sum", <-in)
	close(stop)
	collector.Wait()
	count("main.step", steps)
	count("main.link", links)
	count("main.work", works)
}
