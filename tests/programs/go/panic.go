// SPDX-License-Identifier: GPL-2.0-or-later

// Frames that are left by panics, recovered here and there, and by runtime.Goexit.
package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
)

var dives, catches, cleans, faults, rethrows, ends int64

var errDeep = errors.New("deep")

//go:noinline
func clean() {
	cleans++
}

//go:noinline
func dive(depth int) int {
	dives++
	if depth == 0 {
		panic(errDeep)
	}
	if depth%5 == 0 {
		defer clean()
	}
	return dive(depth-1) + 1
}

//go:noinline
func catch(depth int) (caught string) {
	catches++
	defer func() {
		if err := recover(); err != nil {
			caught = fmt.Sprint(err)
		}
	}()
	dive(depth)
	return "nothing"
}

// A fault of the processor that becomes a panic.
//
//go:noinline
func fault(pointer *int) (caught bool) {
	faults++
	defer func() { caught = recover() != nil }()
	return *pointer == 0
}

//go:noinline
func rethrow(depth int) (err error) {
	rethrows++
	defer func() {
		err, _ = recover().(error)
		if depth > 0 {
			panic(errDeep)
		}
	}()
	if depth > 0 {
		return rethrow(depth - 1)
	}
	dive(3)
	return nil
}

//go:noinline
func end(depth int) {
	ends++
	defer clean()
	if depth == 0 {
		runtime.Goexit()
	}
	end(depth - 1)
}

func main() {
	begin()
	rounds, depth := arg(0, 200), arg(1, 50)
	results := map[string]int{}
	for i := 0; i < rounds; i++ {
		results[catch(i%depth)]++
		if fault(nil) {
			results["fault"]++
		}
		func() {
			defer func() { results[fmt.Sprint("outermost ", recover())]++ }()
			rethrow(5)
		}()
		var ended sync.WaitGroup
		ended.Add(1)
		go func() {
			defer ended.Done()
			end(10)
		}()
		ended.Wait()
	}
	fmt.Println(results)
	count("main.dive", dives)
	count("main.catch", catches)
	count("main.clean", cleans)
	count("main.fault", faults)
	count("main.rethrow", rethrows)
	count("main.end", ends)
}
