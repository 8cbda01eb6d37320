// Prints the flags of the five components of the pinned version as JSON: component -> flag -> [type, default, deprecation].
package main

import (
	"encoding/json"
	goflag "flag"
	"os"

	"github.com/spf13/pflag"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app/options"
)

type table map[string][]string

func of(set *pflag.FlagSet, foreign func(name string) bool) table {
	flags := table{}
	set.VisitAll(func(one *pflag.Flag) {
		if one.Name == "help" || one.Name == "version" || foreign(one.Name) {
			return
		}
		flags[one.Name] = []string{one.Value.Type(), one.DefValue, one.Deprecated}
	})
	return flags
}

func main() {
	none := func(string) bool { return false }
	// What the kubelet's libraries register globally is in every program that links them, as this one does.
	linked := func(name string) bool {
		return name != "v" && name != "vmodule" && goflag.CommandLine.Lookup(name) != nil
	}
	node := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	configuration, err := kubelet.NewKubeletConfiguration()
	if err != nil {
		panic(err)
	}
	kubelet.NewKubeletFlags().AddFlags(node)
	kubelet.AddKubeletConfigFlags(node, configuration)
	kubelet.AddGlobalFlags(node)
	err = json.NewEncoder(os.Stdout).Encode(map[string]table{
		"kube-apiserver":          of(apiserver.NewAPIServerCommand().Flags(), none),
		"kube-controller-manager": of(manager.NewControllerManagerCommand().Flags(), none),
		"kube-scheduler":          of(scheduler.NewSchedulerCommand().Flags(), none),
		"kube-proxy":              of(proxy.NewProxyCommand().Flags(), linked),
		"kubelet":                 of(node, none),
	})
	if err != nil {
		panic(err)
	}
}
