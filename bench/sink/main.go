// The workspace of bench/run push: reads every body to its end and answers. ADDR is where it listens.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
)

func ingest(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"files":[]}`)
}

func main() {
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), http.HandlerFunc(ingest)))
}
