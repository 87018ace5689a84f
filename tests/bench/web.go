// SPDX-License-Identifier: GPL-2.0-or-later

// A web server for scripts/bench: "web ADDRESS" answers with a list, written as JSON, and at /status
// with how often it has done so.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
)

type item struct {
	Name   string
	Number int
}

func main() {
	var answered atomic.Int64
	items := []item{}
	for i := 0; i < 20; i++ {
		items = append(items, item{fmt.Sprintf("item %d", i), i * i})
	}
	http.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, answered.Load())
	})
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		answered.Add(1)
		json.NewEncoder(w).Encode(items)
	})
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		panic(err)
	}
	panic(http.Serve(listener, nil))
}
