// The `sagong` binary: names of commands and nothing else. Each command's code is loaded when it is called.
import { Command } from 'commander';
import { handStray } from '#component-base/failures';
import { fail, failOnUnhandled } from './fail.ts';
import { addMachineCommands } from './machine-commands.ts';

const program = new Command('sagong')
  .description('A complete Kubernetes in TypeScript.')
  .enablePositionalOptions()
  .showHelpAfterError('(see sagong --help)');

interface ClusterFlags {
  name: string;
  dataDir?: string;
}

/** Says at once what is wrong with a name; the code that knows is loaded only with a command. */
const clusterName = (text: string): string => {
  if (text.length <= 50 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(text)) return text;
  throw new Error(
    `--name must be up to 50 lower case letters, digits and '-', with a letter or digit at both ends, not ${JSON.stringify(text)}`,
  );
};

const clusterCommand = (name: string, description: string): Command =>
  program
    .command(name)
    .description(description)
    .option('--name <name>', 'name of the cluster, its context and its default data directory', clusterName, 'sagong')
    .option('--data-dir <dir>', 'where everything of the cluster is kept (default: ~/.sagong/<name>)');

const number =
  (what: string, max: number) =>
  (text: string): number => {
    const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value <= max)) throw new Error(`${what} must be a whole number up to ${max}, not ${JSON.stringify(text)}`);
    return value;
  };

clusterCommand('up', 'Start a cluster and stay in the foreground; Ctrl-C stops it and keeps its data.')
  .option('--nodes <n>', 'number of nodes; 0 starts a control plane alone (default: as before, or 1)', number('--nodes', 5000))
  .option(
    '--control-planes <n>',
    'machines of the control plane, 1, 3 or 5, each with etcd, kube-apiserver and managers as processes of their own, behind a load balancer (default: as before, or none: all is one process)',
    number('--control-planes', 5),
  )
  .option('--runtime <runtime>', 'auto, containerd (real containers) or simulated (pods are not real processes)', 'auto')
  .option('--port <port>', 'port of the apiserver on 127.0.0.1 (default: as before, or a free one)', number('--port', 65_535))
  .option(
    '--uplink <uplink>',
    'way of nodes and pods out of this machine: auto (where possible) or none (default: as before, or auto)',
  )
  .option(
    '--node-addresses <kind>',
    'of real nodes: private, or public (as well, so that this machine reaches their node ports) (default: as before, or private)',
  )
  .option('--registry-mirror <[registry=]url...>', 'where nodes pull images from, for all registries or one (default: as before)')
  .option('--dns-upstream <address...>', "name servers for names outside the cluster (default: as before, or the machine's)")
  .option(
    '--cloud-provider <provider>',
    "local (this machine as a cloud, with the cluster's own cloud-controller-manager) or external (nodes wait for a manager that you run) (default: as before, or local)",
  )
  .option(
    '--cloud-provider-emulator <vendor>',
    "put a vendor's API (aws) in front of the local cloud, and the vendor's provider in the place of the local one (default: as before, or none)",
  )
  .option(
    '--registry [port]',
    'a registry on 127.0.0.1 that nodes know by the same name, localhost:<port>; needs docker-registry (default: as before, or none; port 5000)',
    number('--registry', 65_535),
  )
  .option(
    '--storage <storage>',
    'local-path (the default StorageClass `standard`: volumes are directories of the nodes) or none (default: as before, or local-path)',
  )
  .option(
    '--metrics <metrics>',
    'kubelets (metrics.k8s.io from the kubelets: kubectl top, autoscaling) or none (for a metrics-server of your own) (default: as before, or kubelets)',
  )
  .option(
    '--cni <network>',
    'who makes the network of pods on real nodes: bridge (every node itself) or none (an add-on that you install; nodes are NotReady before it) (default: as before, or bridge)',
  )
  .option(
    '--network-policy <how>',
    'who enforces network policies on real nodes: nftables (every node by its packet filter) or none (default: as before, or nftables)',
  )
  .option('--proxy-mode <mode>', 'of kube-proxy on real nodes: iptables or nftables (default: as before, or iptables)')
  .option(
    '--topology <topology>',
    "self-managed (control plane among the nodes) or managed (in a network of the provider's, as Amazon EKS does) (default: as before, or self-managed)",
  )
  .option(
    '--endpoint-access <mode>',
    'of a managed control plane: public, public-and-private or private (default: as before, or public-and-private)',
  )
  .option(
    '--quota-backend-bytes <n>',
    'size that the data may grow to before writes are refused, in this run (default: 8 GiB)',
    number('--quota-backend-bytes', Number.MAX_SAFE_INTEGER),
  )
  .option(
    '--advertise-address <address>',
    'where other machines reach this one: it becomes the first node, and others may join (default: as before, or none)',
  )
  .option('--etcd-servers <url...>', 'an etcd to keep the data in (default: as before, or a store of its own)')
  .option('--etcd-cafile <file>', 'certificate authority of the etcd servers')
  .option('--etcd-certfile <file>', 'client certificate for etcd')
  .option('--etcd-keyfile <file>', 'client key for etcd')
  .option('--encrypt-secrets', "encrypt Secrets in the store, with a key beside the cluster's other keys (default: as before)")
  .option('--audit-policy-file <file>', 'policy of the audit log of this run; with --audit-log-path')
  .option('--audit-log-path <file>', "file of the audit log, or '-' for standard output")
  .option('--apiserver-arg <flag=value...>', 'flags of kube-apiserver, e.g. event-ttl=2h (default: as before, or none)')
  .option('--controller-manager-arg <flag=value...>', 'flags of kube-controller-manager')
  .option('--scheduler-arg <flag=value...>', 'flags of kube-scheduler')
  .option('--cloud-controller-manager-arg <flag=value...>', 'flags of cloud-controller-manager')
  .option('--kubelet-arg <flag=value...>', 'flags of the kubelets of real nodes')
  .option('--kube-proxy-arg <flag=value...>', 'flags of kube-proxy on real nodes')
  .option('--config <file>', "the cluster in the words of kind's configuration (kind.x-k8s.io/v1alpha4); flags win over it")
  .option('--detach', 'return when the cluster is ready and leave it running')
  .option('--demo', 'also run the demo: a web server spread over the nodes, with an image made on this machine')
  .option('--no-kubeconfig', "leave the user's kubeconfig alone")
  .action(async (flags: ClusterFlags & Record<string, unknown>) => (await import('./commands/up.ts')).runUp(flags as never));

clusterCommand(
  'endpoint-access <mode>',
  'Change the access to a managed control plane while it runs: public, public-and-private or private.',
).action(async (mode: string, flags: ClusterFlags) =>
  (await import('./commands/endpoint-access.ts')).runEndpointAccess(mode, flags),
);
clusterCommand('stop', 'Stop a running cluster and keep its data.').action(async (flags: ClusterFlags) =>
  (await import('./commands/down.ts')).runStop(flags),
);
clusterCommand('down', 'Stop a cluster and remove everything of it, also after a crash.').action(async (flags: ClusterFlags) =>
  (await import('./commands/down.ts')).runDown(flags),
);
clusterCommand('status', 'Say whether a cluster runs, and how its nodes are.').action(async (flags: ClusterFlags) =>
  (await import('./commands/status.ts')).runStatus(flags),
);
clusterCommand('kubeconfig', "Print the cluster administrator's kubeconfig.").action(async (flags: ClusterFlags) =>
  (await import('./commands/status.ts')).runKubeconfig(flags),
);
clusterCommand('explain <object>', 'Say what every control loop and the scheduler decided about an object (kind/name), and why.')
  .option('-n, --namespace <namespace>', 'namespace of the object', 'default')
  .action(async (object: string, flags: ClusterFlags & { namespace: string }) =>
    (await import('./commands/explain.ts')).runExplain(object, flags),
  );
clusterCommand(
  'load-image <archive-or-image...>',
  'Load image archives ("docker save" or OCI layout), or images that Docker or Podman has, into every node.',
)
  .option('--from <program>', 'docker or podman: take images of that name from there (default: whichever has them)')
  .action(async (given: string[], flags: ClusterFlags & { from?: string }) =>
    (await import('./commands/load-image.ts')).runLoadImage(given, flags),
  );
program
  .command('list')
  .description('List the clusters of this user (those in ~/.sagong), running or not.')
  .option('-q, --quiet', 'only their names')
  .action(async (flags: { quiet?: boolean }) => (await import('./commands/local.ts')).runList(flags));
program
  .command('completion <shell>')
  .description('Print a script that completes this command line in bash, zsh or fish.')
  .action(async (shell: string) => (await import('./commands/local.ts')).runCompletion(shell, program));
const storeCommand = program.command('store').description('The data of a cluster: check, repair, defrag, migrate.');
const snapshotCommand = program
  .command('snapshot')
  .description("Snapshots of a cluster's data, in the form of etcd's: save, restore, status.");
const dataCommand = (parent: Command, usage: string, description: string): Command =>
  parent
    .command(usage)
    .description(description)
    .option('--name <name>', 'name of the cluster', clusterName, 'sagong')
    .option('--data-dir <dir>', 'where everything of the cluster is kept (default: ~/.sagong/<name>)');
dataCommand(storeCommand, 'check', 'Verify every record; also while the cluster runs. Exit code 1: there is damage.').action(
  async (flags: ClusterFlags) => (await import('./commands/store.ts')).runStoreCheck(flags),
);
dataCommand(storeCommand, 'repair', 'Begin the store of a stopped cluster again from a snapshot; what was there is kept aside.')
  .requiredOption('--from-snapshot <file>', 'a snapshot of this or another cluster, or of etcd')
  .action(async (flags: ClusterFlags & { fromSnapshot: string }) => (await import('./commands/store.ts')).runStoreRepair(flags));
dataCommand(storeCommand, 'defrag', 'Give back at once what the store does not need any more.').action(
  async (flags: ClusterFlags) => (await import('./commands/store.ts')).runStoreDefrag(flags),
);
dataCommand(storeCommand, 'migrate', 'Move the data of a stopped cluster from its own store into an empty etcd, or back.')
  .requiredOption('--to <kind>', 'etcd or embedded')
  .option('--etcd-servers <url...>', 'the etcd to move to')
  .option('--etcd-cafile <file>', 'certificate authority of the etcd servers')
  .option('--etcd-certfile <file>', 'client certificate for etcd')
  .option('--etcd-keyfile <file>', 'client key for etcd')
  .action(async (flags: ClusterFlags & { to: string }) => (await import('./commands/store.ts')).runStoreMigrate(flags));
dataCommand(snapshotCommand, 'save <file>', 'Save all data at one revision, also while the cluster runs.').action(
  async (file: string, flags: ClusterFlags) => (await import('./commands/snapshot.ts')).runSnapshotSave(file, flags),
);
dataCommand(snapshotCommand, 'restore <file>', 'Put the data of a snapshot in place of that of a stopped cluster.').action(
  async (file: string, flags: ClusterFlags) => (await import('./commands/snapshot.ts')).runSnapshotRestore(file, flags),
);
snapshotCommand
  .command('status <file>')
  .description('Verify a snapshot and say what is in it.')
  .option('-o, --output <format>', 'json (default: a table)')
  .action(async (file: string, flags: { output?: string }) =>
    (await import('./commands/snapshot.ts')).runSnapshotStatus(file, flags),
  );
const nodeCommand = program
  .command('node')
  .description('Nodes: list, add, stop, start, reboot, terminate, shell (as machines of the local cloud), drain, remove.');
const nodeAction = (usage: string, description: string): Command =>
  nodeCommand
    .command(usage)
    .description(description)
    .option('--name <name>', 'name of the cluster', clusterName, 'sagong')
    .option('--data-dir <dir>', 'where everything of the cluster is kept (default: ~/.sagong/<name>)');
for (const [action, usage, description] of [
  ['list', 'list', 'List the instances of the cluster.'],
  ['add', 'add [node]', 'Start one more instance, which joins the cluster as a node; its name may be left out.'],
  ['stop', 'stop <node>', 'Power the instance of a node off; its disk and addresses stay.'],
  ['start', 'start <node>', 'Power the instance of a node on.'],
  ['reboot', 'reboot <node>', 'Power the instance of a node off and on.'],
  ['terminate', 'terminate <node>', 'End the instance of a node for good, with its disk.'],
] as const) {
  const command = nodeAction(usage, description);
  if (action === 'add') command.option('--type <type>', "type of the instance (default: the cloud's smallest)");
  if (action === 'list')
    command.action(async (flags: ClusterFlags) => (await import('./commands/node.ts')).runNode(action, undefined, flags));
  else
    command.action(async (node: string | undefined, flags: ClusterFlags) =>
      (await import('./commands/node.ts')).runNode(action, node, flags),
    );
}
nodeAction(
  'shell <node> [command...]',
  'Run a shell, or (after --) a command, on a real node: in its namespaces, with its processes and mounts.',
).action(async (node: string, command: string[], flags: ClusterFlags) =>
  (await import('./commands/local.ts')).runNodeShell(node, command, flags),
);
for (const [action, usage, description] of [
  ['drain', 'drain <node>', 'Move the pods of a node elsewhere, and let no others come.'],
  ['remove', 'remove <node>', 'Drain a node where it is Ready, and take it out of the cluster.'],
] as const)
  nodeAction(usage, description).action(async (node: string, flags: ClusterFlags) =>
    (await import('./commands/node.ts')).runNodeAway(action, node, flags),
  );
addMachineCommands(program, clusterName);
program
  .command('cluster-cloud', { hidden: true })
  .description('The cloud under a cluster with real nodes. Started by `sagong up`.')
  .requiredOption('--data-dir <dir>')
  .option('--no-uplink')
  .option('--dns-upstream <address...>')
  .action(async ({ dataDir, uplink, dnsUpstream = [] }: { dataDir: string; uplink: boolean; dnsUpstream?: string[] }) =>
    (await import('./commands/cluster-cloud.ts')).runClusterCloud({ dataDir, uplink, dnsUpstreams: dnsUpstream }),
  );
program
  .command('build-image')
  .description('Build an image of this program, for components that run as pods; load it into nodes with load-image.')
  .option('-o, --output <file>', 'the archive to write', 'sagong-image.tar')
  .option('--tag <name>', 'name of the image (default: sagong.local/sagong:<version>)')
  .option('--provider <name...>', 'cloud providers to put in: aws, digitalocean, gce, or the name of an npm package')
  .action(async (flags: { output: string; tag?: string; provider?: string[] }) =>
    (await import('./commands/build-image.ts')).runBuildImage(flags),
  );
program
  .command('envtest-assets <dir>')
  .description(
    "Write kube-apiserver, etcd and kubectl for controller-runtime's envtest, and print the folder for KUBEBUILDER_ASSETS.",
  )
  .action(async (dir: string) => (await import('./commands/envtest-assets.ts')).runEnvtestAssets(dir));
program
  .command('node-agent', { hidden: true })
  .description('All that runs on one real node: containerd, kubelet, kube-proxy. Started by the node as it boots.')
  .requiredOption('--config <file>')
  .action(async ({ config }: { config: string }) => (await import('./commands/node-agent.ts')).runNodeAgentCommand(config));
program
  .command('control-plane-agent', { hidden: true })
  .description(
    'All that runs on one control-plane machine: etcd, kube-apiserver and managers. Started by the machine as it boots.',
  )
  .requiredOption('--config <file>')
  .action(async ({ config }: { config: string }) =>
    (await import('./commands/node-agent.ts')).runControlPlaneAgentCommand(config),
  );
program
  .command('version')
  .description('Print the version.')
  .action(async () => (await import('./commands/status.ts')).runVersion());

/** Components by upstream's names and flags; their tables are loaded only when one of them is called. */
const components = {
  'kube-apiserver': async () => (await import('./commands/kube-apiserver.ts')).kubeApiServerCommand(),
  'kube-controller-manager': async () => (await import('./commands/kube-controller-manager.ts')).kubeControllerManagerCommand(),
  'cloud-controller-manager': async () =>
    (await import('./commands/cloud-controller-manager.ts')).cloudControllerManagerCommand(),
  'kube-scheduler': async () => (await import('./commands/kube-scheduler.ts')).kubeSchedulerCommand(),
  'kube-proxy': async () => (await import('./commands/kube-proxy.ts')).kubeProxyCommand(),
  kubelet: async () => (await import('./commands/kubelet.ts')).kubeletCommand(),
  etcd: async () => (await import('./commands/etcd.ts')).etcdCommand(),
  cloud: async () => (await import('./commands/cloud.ts')).cloudCommand(),
} satisfies Record<string, () => Promise<Command>>;

async function main(): Promise<void> {
  const called = process.argv[2] ?? '';
  for (const [name, load] of Object.entries(components)) {
    if (called === name) program.addCommand(await load());
    else if (name === 'cloud')
      program.command(name).description('The local cloud alone: instances, networks, load balancers behind an HTTP API.');
    else if (name === 'etcd') program.command(name).description("Serve etcd's v3 API on an embedded store, with etcd's flags.");
    else program.command(name).description(`Run ${name} alone, with upstream's flags.`);
  }
  await program.parseAsync();
}

failOnUnhandled(handStray);
void main().catch(fail);
