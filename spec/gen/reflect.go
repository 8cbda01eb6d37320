package main

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// special are the types whose JSON is not their struct.
var special = map[reflect.Type]string{
	reflect.TypeOf(metav1.Time{}):                                  "time",
	reflect.TypeOf(metav1.MicroTime{}):                             "microTime",
	reflect.TypeOf(resource.Quantity{}):                            "quantity",
	reflect.TypeOf(intstr.IntOrString{}):                           "intOrString",
	reflect.TypeOf(runtime.RawExtension{}):                         "rawExtension",
	reflect.TypeOf(metav1.FieldsV1{}):                              "fieldsV1",
	reflect.TypeOf(apiextensionsv1.JSON{}):                         "json",
	reflect.TypeOf(apiextensionsv1.JSONSchemaPropsOrArray{}):       "schemaOrArray",
	reflect.TypeOf(apiextensionsv1.JSONSchemaPropsOrBool{}):        "schemaOrBool",
	reflect.TypeOf(apiextensionsv1.JSONSchemaPropsOrStringArray{}): "schemaOrStringArray",
}

type fieldFacts struct {
	Name          string `json:"name"`
	Number        int    `json:"number"`
	Type          string `json:"type"`
	Ref           string `json:"ref,omitempty"`
	Shape         string `json:"shape,omitempty"`
	Wrapped       bool   `json:"wrapped,omitempty"`
	Pointer       bool   `json:"pointer,omitempty"`
	OmitEmpty     bool   `json:"omitempty,omitempty"`
	OmitZero      bool   `json:"omitzero,omitempty"`
	Inline        bool   `json:"inline,omitempty"`
	PatchStrategy string `json:"patchStrategy,omitempty"`
	PatchMergeKey string `json:"patchMergeKey,omitempty"`
	GoType        string `json:"goType"`
}

type typeFacts struct {
	Name   string       `json:"name"`
	GoType string       `json:"goType"`
	Fields []fieldFacts `json:"fields"`
}

type reader struct {
	seen map[reflect.Type]*typeFacts
}

type modelNamer interface{ OpenAPIModelName() string }

func modelName(t reflect.Type) string {
	if n, ok := reflect.New(t).Interface().(modelNamer); ok {
		return n.OpenAPIModelName()
	}
	path := strings.Split(t.PkgPath(), "/")
	host := strings.Split(path[0], ".")
	for i, j := 0, len(host)-1; i < j; i, j = i+1, j-1 {
		host[i], host[j] = host[j], host[i]
	}
	return strings.Join(append(append(host, path[1:]...), t.Name()), ".")
}

// add reads a struct type and all it refers to; it returns the type's name.
func (r *reader) add(t reflect.Type) string {
	if f, ok := r.seen[t]; ok {
		return f.Name
	}
	f := &typeFacts{Name: modelName(t), GoType: t.String()}
	r.seen[t] = f
	for i := 0; i < t.NumField(); i++ {
		f.Fields = append(f.Fields, r.field(t.Field(i))...)
	}
	return f.Name
}

func (r *reader) field(sf reflect.StructField) []fieldFacts {
	name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if name == "-" || (!sf.IsExported() && !sf.Anonymous) {
		return nil
	}
	f := fieldFacts{Name: name, Number: protobufNumber(sf), GoType: strings.TrimPrefix(sf.Type.String(), "*"),
		PatchStrategy: sf.Tag.Get("patchStrategy"), PatchMergeKey: sf.Tag.Get("patchMergeKey")}
	for _, option := range strings.Split(options, ",") {
		switch option {
		case "omitempty":
			f.OmitEmpty = true
		case "omitzero":
			f.OmitZero = true
		case "inline":
			f.Inline = true
		}
	}
	t := sf.Type
	if t.Kind() == reflect.Pointer {
		f.Pointer = true
		t = t.Elem()
	}
	if f.Inline || (sf.Anonymous && name == "") {
		if f.Number == 0 {
			var fields []fieldFacts
			for i := 0; i < t.NumField(); i++ {
				fields = append(fields, r.field(t.Field(i))...)
			}
			for i := range fields {
				fields[i].Number = 0
			}
			return fields
		}
		f.Inline, f.Type, f.Ref, f.Name = true, "message", r.add(t), ""
		return []fieldFacts{f}
	}
	if name == "" {
		panic(fmt.Sprintf("field %s has no JSON name", sf.Name))
	}
	r.shape(t, &f)
	return []fieldFacts{f}
}

func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

// shape fills in what one value is. Named slices are messages of their own in protobuf ("wrapped").
func (r *reader) shape(t reflect.Type, f *fieldFacts) {
	switch {
	case special[t] != "" || isBytes(t):
		r.value(t, f)
	case t.Kind() == reflect.Slice:
		f.Shape = "list"
		f.Wrapped = t.Name() != "" && t.PkgPath() == reflect.TypeOf(metav1.Time{}).PkgPath() && t.Name() == "Verbs"
		r.value(element(t), f)
	case t.Kind() == reflect.Map:
		f.Shape = "map"
		e := element(t)
		if e.Kind() == reflect.Slice && !isBytes(e) {
			f.Shape = "mapOfLists"
			e = element(e)
		}
		r.value(e, f)
	default:
		r.value(t, f)
	}
}

func element(t reflect.Type) reflect.Type {
	if e := t.Elem(); e.Kind() == reflect.Pointer {
		return e.Elem()
	}
	return t.Elem()
}

func (r *reader) value(t reflect.Type, f *fieldFacts) {
	if s := special[t]; s != "" {
		f.Type = s
		if t.PkgPath() == reflect.TypeOf(apiextensionsv1.JSON{}).PkgPath() && s != "json" {
			f.Ref = r.add(reflect.TypeOf(apiextensionsv1.JSONSchemaProps{}))
		}
		return
	}
	if isBytes(t) {
		f.Type = "bytes"
		return
	}
	switch t.Kind() {
	case reflect.String:
		f.Type = "string"
	case reflect.Bool:
		f.Type = "bool"
	case reflect.Int32:
		f.Type = "int32"
	case reflect.Int64, reflect.Int:
		f.Type = "int64"
	case reflect.Uint32:
		f.Type = "uint32"
	case reflect.Uint64:
		f.Type = "uint64"
	case reflect.Float32:
		f.Type = "float"
	case reflect.Float64:
		f.Type = "double"
	case reflect.Interface:
		f.Type = "any"
	case reflect.Struct:
		f.Type, f.Ref = "message", r.add(t)
	default:
		panic("no rule for " + t.String())
	}
}

func protobufNumber(sf reflect.StructField) int {
	parts := strings.Split(sf.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0
	}
	n, err := strconv.Atoi(parts[1])
	must(err)
	return n
}
