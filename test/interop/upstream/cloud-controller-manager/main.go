// Upstream's cloud-controller-manager with its four shared controllers, over upstream's own test double of a cloud. The file named by
// --cloud-config lists the machines, one name a line: a Node that is not in it has no machine.
package main

import (
	"context"
	"net"
	"os"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/app/config"
	"k8s.io/cloud-provider/fake"
	"k8s.io/cloud-provider/names"
	"k8s.io/cloud-provider/options"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	"k8s.io/klog/v2"
)

type cloud struct {
	*fake.Cloud
	machines string
}

func (c *cloud) InstancesV2() (cloudprovider.InstancesV2, bool) { return c, true }

func (c *cloud) InstanceExists(_ context.Context, node *v1.Node) (bool, error) {
	text, err := os.ReadFile(c.machines)
	return slices.Contains(strings.Fields(string(text)), node.Name), err
}

func metadata(_ context.Context, node *v1.Node) (*cloudprovider.InstanceMetadata, error) {
	return &cloudprovider.InstanceMetadata{
		ProviderID:    "fake://" + node.Name,
		InstanceType:  "fake.large",
		Zone:          "fake-1a",
		Region:        "fake-1",
		NodeAddresses: []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: "10.0.0.7"}},
	}, nil
}

func initializer(config *config.CompletedConfig) cloudprovider.Interface {
	return &cloud{
		Cloud: &fake.Cloud{
			ExternalIP:               net.ParseIP("192.0.2.10"),
			Exists:                   true,
			RouteMap:                 map[string]*fake.Route{},
			OverrideInstanceMetadata: metadata,
		},
		machines: config.ComponentConfig.KubeCloudShared.CloudProvider.CloudConfigFile,
	}
}

func main() {
	opts, err := options.NewCloudControllerManagerOptions()
	if err != nil {
		klog.Fatal(err)
	}
	flags := cliflag.NamedFlagSets{}
	command := app.NewCloudControllerManagerCommand(opts, initializer, app.DefaultInitFuncConstructors, names.CCMControllerAliases(), flags, wait.NeverStop)
	os.Exit(cli.Run(command))
}
