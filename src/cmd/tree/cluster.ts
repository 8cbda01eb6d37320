// Commands about a cluster as a whole: its life, and what can be asked of it.
import { clusterRows, upDefaults, upFlags } from '#cluster/flags';
import { type Command, command, flag } from '#component-base/flags';
import { clusterCommand } from './cluster-command.ts';

const life: readonly Command[] = [
  command({
    name: 'up',
    suggestFor: ['create', 'start', 'run', 'server'],
    description: 'Start a cluster and stay in the foreground; Ctrl-C stops it and keeps its data.',
    flags: upFlags,
    run: async ({ given }) => (await import('../commands/up.ts')).runUp(given),
  }),
  clusterCommand({
    name: 'endpoint-access',
    takes: '<mode>',
    description: 'Change the access to a managed control plane while it runs: public, public-and-private or private.',
    run: async (cluster, [mode = '']) => (await import('../commands/endpoint-access.ts')).runEndpointAccess(mode, cluster),
  }),
  command({
    name: 'describe-cluster',
    description: 'Describe a managed cluster as its customer sees it: endpoint, access, network, authority.',
    flags: {
      ...clusterRows,
      output: flag.choice(['json', 'table'] as const, {
        name: 'output',
        shorthand: 'o',
        default: 'json' as 'json' | 'table',
        help: 'json or table.',
      }),
    },
    run: async ({ given, values: { name } }) =>
      (await import('../commands/endpoint-access.ts')).runDescribeCluster({ ...given, name }),
  }),
  clusterCommand({
    name: 'stop',
    suggestFor: ['halt', 'pause'],
    description: 'Stop a running cluster and keep its data.',
    run: async (cluster) => (await import('../commands/down.ts')).runStop(cluster),
  }),
  command({
    name: 'down',
    suggestFor: ['delete', 'remove', 'rm', 'destroy'],
    description: 'Stop a cluster and remove everything of it, also after a crash.',
    flags: {
      ...clusterRows,
      force: flag.bool({
        name: 'force',
        default: false,
        help: 'Go on where its member of etcd cannot be taken out, which may leave other control planes without a majority.',
      }),
    },
    run: async ({ given, values: { name } }) => (await import('../commands/down.ts')).runDown({ ...given, name }),
  }),
  clusterCommand({
    name: 'status',
    description: 'Say whether a cluster runs, and how its nodes are.',
    run: async (cluster) => (await import('../commands/status.ts')).runStatus(cluster),
  }),
  clusterCommand({
    name: 'kubeconfig',
    suggestFor: ['get', 'export', 'config'],
    description: "Print the cluster administrator's kubeconfig.",
    run: async (cluster) => (await import('../commands/status.ts')).runKubeconfig(cluster),
  }),
];

const explain = command({
  name: 'explain',
  suggestFor: ['why', 'describe'],
  takes: '<object>',
  description:
    'Say why an object (kind/name) is as it is, and what every control loop and the scheduler decided; user/NAME: what was refused.',
  flags: {
    ...clusterRows,
    namespace: flag.string({ name: 'namespace', shorthand: 'n', default: 'default', help: 'Namespace of the object.' }),
  },
  run: async ({ given, values: { name, namespace }, args: [object = ''] }) =>
    (await import('../commands/explain.ts')).runExplain(object, { ...given, name, namespace }),
});

const loadImage = command({
  name: 'load-image',
  suggestFor: ['load', 'image', 'import', 'images'],
  takes: '<archive-or-image...>',
  description: 'Load image archives ("docker save" or OCI layout), or images that Docker or Podman has, into every node.',
  flags: {
    ...clusterRows,
    from: flag.choice(['docker', 'podman'] as const, {
      name: 'from',
      default: '' as 'docker',
      usual: 'whichever has them',
      help: 'docker or podman: take images of that name from there.',
    }),
  },
  run: async ({ given, args }) =>
    (await import('../commands/load-image.ts')).runLoadImage(args, { name: upDefaults.name, ...given }),
});

const list = command({
  name: 'list',
  suggestFor: ['get', 'ls', 'ps', 'clusters'],
  description: 'List the clusters of this user, running or not.',
  flags: { quiet: flag.bool({ name: 'quiet', shorthand: 'q', default: false, help: 'Only their names.' }) },
  run: async ({ values }) => (await import('../commands/local.ts')).runList(values),
});

export const clusterCommands: readonly Command[] = [...life, explain, loadImage, list];
