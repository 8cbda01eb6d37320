package main

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

func operation(client int, call, end int64, in input, out output) porcupine.Operation {
	in.key = "one"
	return porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end}
}

func TestModel(t *testing.T) {
	seen := func(value, version string) output { return output{done, value, version} }
	wrote := func(version string) output { return output{outcome: done, version: version} }
	tests := []struct {
		name    string
		history []porcupine.Operation
		want    bool
	}{
		{"a read sees the last write", []porcupine.Operation{
			operation(0, 1, 2, input{kind: write, value: "a"}, wrote("5")),
			operation(1, 3, 4, input{kind: read}, seen("a", "5")),
		}, true},
		{"a read of what was before is stale", []porcupine.Operation{
			operation(0, 1, 2, input{kind: write, value: "a"}, wrote("5")),
			operation(1, 3, 4, input{kind: read}, seen("0", "3")),
		}, false},
		{"an acknowledged write that nobody sees is lost", []porcupine.Operation{
			operation(0, 1, 2, input{kind: read}, seen("0", "3")),
			operation(0, 3, 4, input{kind: swap, value: "a", version: "3"}, wrote("5")),
			operation(1, 5, 6, input{kind: read}, seen("0", "3")),
		}, false},
		{"one version is swapped once", []porcupine.Operation{
			operation(0, 1, 2, input{kind: read}, seen("0", "3")),
			operation(0, 3, 9, input{kind: swap, value: "a", version: "3"}, wrote("5")),
			operation(1, 3, 9, input{kind: swap, value: "b", version: "3"}, wrote("6")),
		}, false},
		{"the second to swap a version is refused", []porcupine.Operation{
			operation(0, 1, 2, input{kind: read}, seen("0", "3")),
			operation(0, 3, 9, input{kind: swap, value: "a", version: "3"}, wrote("5")),
			operation(1, 3, 9, input{kind: swap, value: "b", version: "3"}, output{outcome: refused}),
		}, true},
		{"nobody is refused without a reason", []porcupine.Operation{
			operation(0, 1, 2, input{kind: read}, seen("0", "3")),
			operation(1, 3, 9, input{kind: swap, value: "b", version: "3"}, output{outcome: refused}),
		}, false},
		{"versions do not go back", []porcupine.Operation{
			operation(0, 1, 2, input{kind: write, value: "a"}, wrote("5")),
			operation(0, 3, 4, input{kind: write, value: "b"}, wrote("4")),
		}, false},
		{"a write without an answer may come late, or never", []porcupine.Operation{
			operation(0, 1, 100, input{kind: write, value: "a"}, output{outcome: lost}),
			operation(1, 2, 3, input{kind: read}, seen("0", "3")),
			operation(1, 4, 5, input{kind: read}, seen("a", "5")),
		}, true},
		{"but not be undone", []porcupine.Operation{
			operation(0, 1, 100, input{kind: write, value: "a"}, output{outcome: lost}),
			operation(1, 2, 3, input{kind: read}, seen("a", "5")),
			operation(1, 4, 5, input{kind: read}, seen("0", "3")),
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := porcupine.CheckOperations(model("0"), test.history); got != test.want {
				t.Errorf("linearizable: %v, want %v", got, test.want)
			}
		})
	}
}
