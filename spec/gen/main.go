// Reads the published Go types of Kubernetes by reflection and prints, as JSON, what their struct tags say: JSON names, protobuf
// numbers, pointers, omitempty, patch strategies. spec/generate.mjs joins this with the published OpenAPI documents.
package main

import (
	"encoding/json"
	"os"
	"sort"

	admissionv1 "k8s.io/api/admission/v1"
	discoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"reflect"
)

type kind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Type    string `json:"type"`
}

type output struct {
	Types []*typeFacts `json:"types"`
	Kinds []kind       `json:"kinds"`
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func allTypes() *runtime.Scheme {
	s := scheme.Scheme
	must(admissionv1.AddToScheme(s))
	must(discoveryv2.AddToScheme(s))
	must(apiextensionsv1.AddToScheme(s))
	must(apiregistrationv1.AddToScheme(s))
	must(metav1.AddMetaToScheme(s))
	return s
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "vectors" {
		must(json.NewEncoder(os.Stdout).Encode(vectors(allTypes())))
		return
	}
	r := reader{seen: map[reflect.Type]*typeFacts{}}
	out := output{}
	for gvk, t := range allTypes().AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || t.Name() == "InternalEvent" {
			continue
		}
		out.Kinds = append(out.Kinds, kind{gvk.Group, gvk.Version, gvk.Kind, r.add(t)})
	}
	for _, t := range []any{metav1.Patch{}, metav1.FieldSelectorRequirement{}, metav1.GroupKind{}, metav1.GroupVersion{}} {
		r.add(reflect.TypeOf(t))
	}
	for _, t := range r.seen {
		out.Types = append(out.Types, t)
	}
	sort.Slice(out.Types, func(i, j int) bool { return out.Types[i].Name < out.Types[j].Name })
	sort.Slice(out.Kinds, func(i, j int) bool {
		a, b := out.Kinds[i], out.Kinds[j]
		if a.Group != b.Group {
			return a.Group < b.Group
		}
		if a.Version != b.Version {
			return a.Version < b.Version
		}
		return a.Kind < b.Kind
	})
	must(json.NewEncoder(os.Stdout).Encode(out))
}
