// SPDX-License-Identifier: GPL-2.0-or-later

// Goroutines that spend most of their time in assembly, which has the frame pointer for something
// else, and in the runtime, on stacks of its own.
package main

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
)

var sums int64

//go:noinline
func sum(text []byte) [32]byte {
	atomic.AddInt64(&sums, 1)
	return sha256.Sum256(text)
}

//go:noinline
func worker(rounds int) {
	for i := 0; i < rounds; i++ {
		text := make([]byte, 4096+i%64)
		text[i%64] = sum(text)[0]
	}
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
	count("main.sum", sums)
}
