package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// What upstream's own serializers make of chosen inputs, for tests of ours.
type vectorFile struct {
	Source   string         `json:"source"`
	Protobuf []protobufCase `json:"protobuf"`
	Decode   []decodeCase   `json:"decode"`
	YAML     []yamlCase     `json:"yaml"`
	Format   []formatCase   `json:"format"`
}

type protobufCase struct {
	JSON     json.RawMessage `json:"json"`
	Protobuf string          `json:"protobuf"`
}

type decodeCase struct {
	GVK    string   `json:"gvk"`
	Body   string   `json:"body"`
	JSON   string   `json:"json,omitempty"`
	Strict []string `json:"strict,omitempty"`
	Error  string   `json:"error,omitempty"`
}

type yamlCase struct {
	YAML   string `json:"yaml"`
	JSON   string `json:"json,omitempty"`
	Error  string `json:"error,omitempty"`
	Strict string `json:"strict,omitempty"`
}

type formatCase struct {
	JSON string `json:"json"`
	YAML string `json:"yaml"`
}

var protobufKinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Pod"}, {Version: "v1", Kind: "Service"}, {Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "PersistentVolume"},
	{Version: "v1", Kind: "PodList"}, {Version: "v1", Kind: "Status"}, {Version: "v1", Kind: "List"},
	{Group: "apps", Version: "v1", Kind: "ControllerRevision"}, {Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
	{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest"},
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, {Group: "resource.k8s.io", Version: "v1", Kind: "ResourceSlice"},
	{Group: "policy", Version: "v1", Kind: "Eviction"}, {Group: "apps", Version: "v1", Kind: "DeleteOptions"},
}

func vectors(s *runtime.Scheme) any {
	out := vectorFile{Source: "k8s.io/apimachinery v0.36.2 serializers, sigs.k8s.io/yaml v1.6.0"}
	proto := protobuf.NewSerializer(s, s)
	jsons := kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, s, s, kjson.SerializerOptions{Strict: true})
	for _, gvk := range protobufKinds {
		for _, full := range []bool{true, false} {
			obj, err := s.New(gvk)
			must(err)
			if full {
				f := filler{}
				f.fill(reflect.ValueOf(obj).Elem(), 0)
			}
			obj.GetObjectKind().SetGroupVersionKind(gvk)
			var j, p bytes.Buffer
			must(jsons.Encode(obj, &j))
			must(proto.Encode(obj, &p))
			out.Protobuf = append(out.Protobuf, protobufCase{json.RawMessage(j.Bytes()), base64.StdEncoding.EncodeToString(p.Bytes())})
		}
	}
	for _, c := range decodeInputs {
		out.Decode = append(out.Decode, decodeOne(jsons, c[0], c[1]))
	}
	for _, y := range yamlInputs {
		c := yamlCase{YAML: y}
		if j, err := yaml.YAMLToJSON([]byte(y)); err != nil {
			c.Error = err.Error()
		} else {
			c.JSON = string(j)
			if _, err := yaml.YAMLToJSONStrict([]byte(y)); err != nil {
				c.Strict = err.Error()
			}
		}
		out.YAML = append(out.YAML, c)
	}
	for _, j := range formatInputs {
		y, err := yaml.JSONToYAML([]byte(j))
		must(err)
		out.Format = append(out.Format, formatCase{j, string(y)})
	}
	return out
}

func decodeOne(s runtime.Decoder, kind, body string) decodeCase {
	c := decodeCase{GVK: kind, Body: body}
	gv, k, _ := strings.Cut(kind, " ")
	group, err := schema.ParseGroupVersion(gv)
	must(err)
	gvk := group.WithKind(k)
	obj, _, err := s.Decode([]byte(body), &gvk, nil)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, e := range strict.Errors() {
			c.Strict = append(c.Strict, e.Error())
		}
	} else if err != nil {
		c.Error = err.Error()
		return c
	}
	j, err := json.Marshal(obj)
	must(err)
	c.JSON = string(j)
	return c
}

// filler gives every field a value that differs from its neighbours', the same on every run.
type filler struct{ n int64 }

func (f *filler) next() int64 { f.n++; return f.n }

func (f *filler) fill(v reflect.Value, depth int) {
	switch x := v.Addr().Interface().(type) {
	case *metav1.Time:
		x.Time = time.Unix(1600000000+f.next(), 0).UTC()
		return
	case *metav1.MicroTime:
		x.Time = time.Unix(1600000000+f.next(), f.next()*1000).UTC()
		return
	case *resource.Quantity:
		*x = resource.MustParse(fmt.Sprintf("%dm", f.next()))
		return
	case *intstr.IntOrString:
		*x = intstr.FromInt32(int32(f.next()))
		if f.n%2 == 0 {
			*x = intstr.FromString(fmt.Sprintf("%d%%", f.n))
		}
		return
	case *runtime.RawExtension:
		x.Raw = []byte(fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Raw","value":%d}`, f.next()))
		return
	case *metav1.FieldsV1:
		x.SetRawString(fmt.Sprintf(`{"f:field%d":{}}`, f.next()))
		return
	case *apiextensionsv1.JSON:
		x.Raw = []byte(fmt.Sprintf(`{"any":%d}`, f.next()))
		return
	case *apiextensionsv1.JSONSchemaPropsOrArray:
		x.Schema = &apiextensionsv1.JSONSchemaProps{Type: "string"}
		return
	case *apiextensionsv1.JSONSchemaPropsOrBool:
		x.Allows = true
		return
	case *apiextensionsv1.JSONSchemaPropsOrStringArray:
		x.Property = []string{"a", "b"}
		return
	case *metav1.TypeMeta:
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if depth > 9 {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), depth+1)
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		if depth > 9 {
			return
		}
		n := 1
		if v.Type().Elem().Kind() == reflect.Uint8 {
			n = 5
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := 0; i < n; i++ {
			f.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		if depth > 9 {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, depth+1)
			f.fill(value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%d", f.next()))
	case reflect.Bool:
		v.SetBool(f.next()%2 == 0)
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(f.next() * 7)
		if f.n%5 == 0 {
			v.SetInt(-f.n)
		}
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.next() % 256))
	case reflect.Float64:
		v.SetFloat(float64(f.next()) / 4)
	}
}
