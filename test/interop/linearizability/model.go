package main

import (
	"strconv"

	"github.com/anishathalye/porcupine"
)

// unknown is a version that no answer has told yet.
const unknown = ""

type kind int

const (
	read kind = iota
	write
	swap
)

// input is what a client asked for. A swap is carried out only where the object has version.
type input struct {
	key, value, version string
	kind                kind
}

type outcome int

const (
	done outcome = iota
	refused
	// lost: no answer came, so that it was carried out or not, or will be.
	lost
)

type output struct {
	outcome        outcome
	value, version string
}

// state is one object: what is in it, and its version.
type state struct{ value, version string }

func newer(after, before string) bool {
	if before == unknown || after == unknown {
		return true
	}
	a, errA := strconv.ParseUint(after, 10, 64)
	b, errB := strconv.ParseUint(before, 10, 64)
	return errA == nil && errB == nil && a > b
}

func could(version, wanted string) bool { return version == unknown || version == wanted }

// step says whether an operation fits a state, and gives the next one. An operation without an answer fits every state: the checker may put it at the
// end of all, where it has not happened.
func step(now state, in input, out output) (bool, state) {
	switch {
	case in.kind == read:
		if out.outcome == lost {
			return true, now
		}
		fits := now.value == out.value && could(now.version, out.version)
		return fits, state{out.value, out.version}
	case out.outcome == lost:
		if in.kind == swap && !could(now.version, in.version) {
			return true, now
		}
		return true, state{in.value, unknown}
	case in.kind == write:
		return newer(out.version, now.version), state{in.value, out.version}
	case out.outcome == refused:
		return now.version == unknown || now.version != in.version, now
	default:
		fits := could(now.version, in.version) && newer(out.version, in.version)
		return fits, state{in.value, out.version}
	}
}

// model is of many objects, each alone: all of them begin with first in them.
func model(first string) porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byKey := map[string][]porcupine.Operation{}
			for _, operation := range history {
				key := operation.Input.(input).key
				byKey[key] = append(byKey[key], operation)
			}
			parts := make([][]porcupine.Operation, 0, len(byKey))
			for _, part := range byKey {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() any { return state{first, unknown} },
		Step: func(now, in, out any) (bool, any) { return step(now.(state), in.(input), out.(output)) },
	}
}
