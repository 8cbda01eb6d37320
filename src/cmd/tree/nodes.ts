// Commands about the nodes of a cluster.
import { clusterRows } from '#cluster/flags';
import { type Command, command, flag } from '#component-base/flags';
import { clusterCommand } from './cluster-command.ts';

const instances = [
  ['list', undefined, 'List the instances of the cluster.'],
  ['stop', '<node>', 'Power the instance of a node off; its disk and addresses stay.'],
  ['start', '<node>', 'Power the instance of a node on.'],
  ['reboot', '<node>', 'Power the instance of a node off and on.'],
  ['terminate', '<node>', 'End the instance of a node for good, with its disk.'],
] as const;

const away = [
  ['drain', 'Move the pods of a node elsewhere, and let no others come.'],
  ['remove', 'Drain a node where it is Ready, and take it out of the cluster.'],
] as const;

const add = command({
  name: 'add',
  takes: '[node]',
  description: 'Start one more instance, which joins the cluster as a node; its name may be left out.',
  flags: {
    ...clusterRows,
    type: flag.string({ name: 'type', default: '', usual: "the cloud's smallest", help: 'Type of the instance.' }),
  },
  run: async ({ given, values: { name }, args: [node] }) =>
    (await import('../commands/node.ts')).runNode('add', node, { ...given, name }),
});

const shell = clusterCommand({
  name: 'shell',
  takes: '<node> [command...]',
  description: 'Run a shell, or (after --) a command, on a real node: in its namespaces, with its processes and mounts.',
  run: async (cluster, [node = '', ...words]) => (await import('../commands/local.ts')).runNodeShell(node, words, cluster),
});

export const nodeCommands: Command = {
  name: 'node',
  suggestFor: ['get', 'nodes', 'ssh'],
  description: 'Nodes: list, add, stop, start, reboot, terminate, shell (as machines of the local cloud), drain, remove.',
  commands: [
    add,
    ...instances.map(([name, takes, description]) =>
      clusterCommand({
        name,
        takes,
        description,
        run: async (cluster, [node]) => (await import('../commands/node.ts')).runNode(name, node, cluster),
      }),
    ),
    shell,
    ...away.map(([name, description]) =>
      clusterCommand({
        name,
        takes: '<node>',
        description,
        run: async (cluster, [node = '']) => (await import('../commands/node.ts')).runNodeAway(name, node, cluster),
      }),
    ),
  ],
};
