// Commands that are programs of their own: components, what real machines run as they boot, and what makes files.
import { type Command, command, flag } from '#component-base/flags';
import { upFlags } from '#cluster/flags';

const named = (
  name: string,
  load: () => Promise<Command>,
  description = `Run ${name} alone, with upstream's flags.`,
): Command => ({
  name,
  description,
  load,
});

/** Components by upstream's names and flags; their tables are loaded only when one of them is called. */
const components: readonly Command[] = [
  named('kube-apiserver', async () => (await import('../commands/kube-apiserver.ts')).kubeApiServerCommand()),
  named('kube-controller-manager', async () =>
    (await import('../commands/kube-controller-manager.ts')).kubeControllerManagerCommand(),
  ),
  named('cloud-controller-manager', async () =>
    (await import('../commands/cloud-controller-manager.ts')).cloudControllerManagerCommand(),
  ),
  named('kube-scheduler', async () => (await import('../commands/kube-scheduler.ts')).kubeSchedulerCommand()),
  named('kube-proxy', async () => (await import('../commands/kube-proxy.ts')).kubeProxyCommand()),
  named('kubelet', async () => (await import('../commands/kubelet.ts')).kubeletCommand()),
  named(
    'coredns',
    async () => (await import('../commands/coredns.ts')).corednsCommand(),
    'Serve the names of a cluster alone, by a Corefile, as the pods of --layout pods do.',
  ),
  named(
    'etcd',
    async () => (await import('../commands/etcd.ts')).etcdCommand(),
    "Serve etcd's v3 API on an embedded store, with etcd's flags.",
  ),
  named(
    'cloud',
    async () => (await import('../commands/cloud.ts')).cloudCommand(),
    'The local cloud alone: instances, networks, load balancers behind an HTTP API.',
  ),
];

const file = flag.string({ name: 'config', default: '', required: true, help: 'File with all that it must know.' });

const booted: readonly Command[] = [
  command({
    name: 'cluster-cloud',
    hidden: true,
    description: 'The cloud under a cluster with real nodes. Started by `sagong up`.',
    flags: {
      dataDir: flag.string({ name: 'data-dir', default: '', required: true, help: 'Data directory of the cluster.' }),
      noUplink: flag.bool({ name: 'no-uplink', default: false, help: 'Instances get no way out of this machine.' }),
      dnsUpstreams: { ...upFlags.dnsUpstreams, kept: false },
    },
    run: async ({ values: { dataDir, noUplink, dnsUpstreams } }) =>
      (await import('../commands/cluster-cloud.ts')).runClusterCloud({ dataDir, uplink: !noUplink, dnsUpstreams }),
  }),
  command({
    name: 'node-agent',
    hidden: true,
    description: 'All that runs on one real node: containerd, kubelet, kube-proxy. Started by the node as it boots.',
    flags: { file },
    run: async ({ values }) => (await import('../commands/node-agent.ts')).runNodeAgentCommand(values.file),
  }),
  command({
    name: 'control-plane-agent',
    hidden: true,
    description:
      'All that runs on one control-plane machine: etcd, kube-apiserver and managers. Started by the machine as it boots.',
    flags: { file },
    run: async ({ values }) => (await import('../commands/node-agent.ts')).runControlPlaneAgentCommand(values.file),
  }),
];

const makers: readonly Command[] = [
  command({
    name: 'build-image',
    description: 'Build an image of this program, for components that run as pods; load it into nodes with load-image.',
    flags: {
      output: flag.string({ name: 'output', shorthand: 'o', default: 'sagong-image.tar', help: 'The archive to write.' }),
      tag: flag.string({ name: 'tag', default: '', usual: 'sagong.local/sagong:<version>', help: 'Name of the image.' }),
      provider: flag.strings({
        name: 'provider',
        default: [],
        help: 'Cloud providers to put in: aws, azure, cce, digitalocean, gce, linode, oci, or the name of an npm package.',
      }),
    },
    run: async ({ given, values: { output } }) =>
      (await import('../commands/build-image.ts')).runBuildImage({ ...given, output }),
  }),
  command({
    name: 'envtest-assets',
    takes: '<dir>',
    description:
      "Write kube-apiserver, etcd and kubectl for controller-runtime's envtest, and print the folder for KUBEBUILDER_ASSETS.",
    flags: {},
    run: async ({ args: [dir = ''] }) => (await import('../commands/envtest-assets.ts')).runEnvtestAssets(dir),
  }),
];

export const programCommands: readonly Command[] = [...components, ...booted, ...makers];
