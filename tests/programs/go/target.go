// SPDX-License-Identifier: GPL-2.0-or-later

// What the Go targets share: see ../target.h.
package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strconv"
)

var args = os.Args[1:]

// With --wait as first argument: says "ready" and waits for a line.
func begin() {
	if len(args) > 0 && args[0] == "--wait" {
		args = args[1:]
		fmt.Println("ready")
		bufio.NewReader(os.Stdin).ReadString('\n')
	}
}

// The numeric argument at `index`, or what it is by default.
func arg(index, otherwise int) int {
	if index < len(args) {
		if value, err := strconv.Atoi(args[index]); err == nil {
			return value
		}
	}
	return otherwise
}

func count(name string, calls int64) {
	fmt.Printf("COUNT %s %d\n", name, calls)
}

// The name that the toolchain has given a function; it differs from one to the next for closures.
func nameOf(function any) string {
	return runtime.FuncForPC(reflect.ValueOf(function).Pointer()).Name()
}
