// SPDX-License-Identifier: GPL-2.0-or-later

// Goroutines that work on their own stacks, and on their threads' system stacks: there the runtime
// looks at the clock, by the vdso, and makes large objects.
package main

import (
	"sync"
	"sync/atomic"
	"time"
)

var clocks, grows int64
var last atomic.Value

//go:noinline
func clock() time.Duration {
	var sum time.Duration
	atomic.AddInt64(&clocks, 1)
	for i := 0; i < 200; i++ {
		sum += time.Duration(time.Now().Nanosecond())
	}
	return sum
}

//go:noinline
func grow(bytes int) {
	atomic.AddInt64(&grows, 1)
	for i := 0; i < 4; i++ {
		last.Store(make([]byte, bytes))
	}
}

//go:noinline
func spin(rounds int) int {
	x := rounds
	for i := 0; i < rounds; i++ {
		x = x*7 + i
	}
	return x
}

//go:noinline
func worker(rounds int) (sum int) {
	for i := 0; i < rounds; i++ {
		sum += int(clock())
		grow(40000)
		sum += spin(10000)
	}
	return sum
}

func main() {
	begin()
	workers, rounds := arg(0, 4), arg(1, 5000)
	var done sync.WaitGroup
	for i := 0; i < workers; i++ {
		done.Add(1)
		go func() {
			defer done.Done()
			worker(rounds)
		}()
	}
	done.Wait()
	count("main.clock", clocks)
	count("main.grow", grows)
}
