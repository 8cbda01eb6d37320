// Commands about the data of a cluster: its store, and snapshots of it.
import { clusterRows, etcdRows } from '#cluster/flags';
import { type Command, command, flag } from '#component-base/flags';
import { clusterCommand } from './cluster-command.ts';

const store: Command = {
  name: 'store',
  description: 'The data of a cluster: check, repair, defrag, migrate.',
  commands: [
    clusterCommand({
      name: 'check',
      description: 'Verify every record; also while the cluster runs. Exit code 1: there is damage.',
      run: async (cluster) => (await import('../commands/store.ts')).runStoreCheck(cluster),
    }),
    command({
      name: 'repair',
      description: 'Begin the store of a stopped cluster again from a snapshot; what was there is kept aside.',
      flags: {
        ...clusterRows,
        fromSnapshot: flag.string({
          name: 'from-snapshot',
          default: '',
          required: true,
          help: 'A snapshot of this or another cluster, or of etcd.',
        }),
      },
      run: async ({ given, values: { name, fromSnapshot } }) =>
        (await import('../commands/store.ts')).runStoreRepair({ ...given, name, fromSnapshot }),
    }),
    clusterCommand({
      name: 'defrag',
      description: 'Give back at once what the store does not need any more.',
      run: async (cluster) => (await import('../commands/store.ts')).runStoreDefrag(cluster),
    }),
    command({
      name: 'migrate',
      description: 'Move the data of a stopped cluster from its own store into an empty etcd, or back.',
      flags: {
        ...clusterRows,
        to: flag.choice(['etcd', 'embedded'] as const, {
          name: 'to',
          default: '' as 'etcd',
          required: true,
          help: 'etcd or embedded.',
        }),
        ...etcdRows({}),
      },
      run: async ({ given, values: { name, to } }) =>
        (await import('../commands/store.ts')).runStoreMigrate({ ...given, name, to }),
    }),
  ],
};

const snapshot: Command = {
  name: 'snapshot',
  description: "Snapshots of a cluster's data, in the form of etcd's: save, restore, status.",
  commands: [
    clusterCommand({
      name: 'save',
      takes: '<file>',
      description: 'Save all data at one revision, also while the cluster runs.',
      run: async (cluster, [file = '']) => (await import('../commands/snapshot.ts')).runSnapshotSave(file, cluster),
    }),
    command({
      name: 'restore',
      takes: '<file>',
      description: 'Put the data of a snapshot in place of that of a stopped cluster.',
      flags: {
        ...clusterRows,
        force: flag.bool({ name: 'force', default: false, help: 'Also the data of another cluster.' }),
      },
      run: async ({ given, values: { name }, args: [file = ''] }) =>
        (await import('../commands/snapshot.ts')).runSnapshotRestore(file, { ...given, name }),
    }),
    command({
      name: 'status',
      takes: '<file>',
      description: 'Verify a snapshot and say what is in it.',
      flags: {
        output: flag.choice(['json'] as const, {
          name: 'output',
          shorthand: 'o',
          default: '' as 'json',
          usual: 'a table',
          help: 'Form of the answer: json.',
        }),
      },
      run: async ({ given, args: [file = ''] }) => (await import('../commands/snapshot.ts')).runSnapshotStatus(file, given),
    }),
  ],
};

export const dataCommands: readonly Command[] = [store, snapshot];
