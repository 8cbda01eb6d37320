// Says what Go's regexp makes of patterns and texts that come in as JSON: where all matches are, in UTF-16 units, or why it is no pattern.
package main

import (
	"encoding/json"
	"os"
	"regexp"
	"runtime"
	"unicode/utf16"
)

type input struct {
	Patterns []string
	Texts    []string
}

type row struct {
	Error   string  `json:"error,omitempty"`
	Matches [][]int `json:"matches,omitempty"`
}

func units(text string) int { return len(utf16.Encode([]rune(text))) }

func rowOf(pattern string, texts []string) row {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return row{Error: err.Error()}
	}
	made := row{Matches: [][]int{}}
	for _, text := range texts {
		found := []int{}
		for _, match := range compiled.FindAllStringIndex(text, -1) {
			found = append(found, units(text[:match[0]]), units(text[:match[1]]))
		}
		made.Matches = append(made.Matches, found)
	}
	return made
}

func main() {
	var given input
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		panic(err)
	}
	rows := []row{}
	for _, pattern := range given.Patterns {
		rows = append(rows, rowOf(pattern, given.Texts))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]any{"version": runtime.Version(), "rows": rows}); err != nil {
		panic(err)
	}
}
