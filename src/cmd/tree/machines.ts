// Commands about machines: token, join, leave, certs (their words are kubeadm's), service.
import { clusterRows } from '#cluster/flags';
import { type Command, command, flag } from '#component-base/flags';
import { joinFlags, machineDir } from '../flags/join.ts';
import { tokenFlags } from '../flags/token.ts';
import { clusterCommand } from './cluster-command.ts';

const token: Command = {
  name: 'token',
  description: 'Bootstrap tokens, by which machines join: create, list, delete.',
  commands: [
    command({
      name: 'create',
      takes: '[token]',
      description: 'Make a token, or the one that is given.',
      flags: tokenFlags,
      run: async ({ values, args: [given] }) => (await import('../commands/token.ts')).runTokenCreate(given, values),
    }),
    clusterCommand({
      name: 'list',
      description: 'List the tokens.',
      run: async (cluster) => (await import('../commands/token.ts')).runTokenList(cluster),
    }),
    clusterCommand({
      name: 'delete',
      takes: '<token...>',
      description: 'Delete tokens, by themselves or by their ids.',
      run: async (cluster, tokens) => (await import('../commands/token.ts')).runTokenDelete(tokens, cluster),
    }),
  ],
};

const certs: Command = {
  name: 'certs',
  description: 'Certificates of a cluster: check, renew, upload.',
  commands: [
    clusterCommand({
      name: 'check',
      description: 'List the certificates, how long they are good, and who has signed them.',
      run: async (cluster) => (await import('../commands/certs.ts')).runCertsCheck(cluster),
    }),
    clusterCommand({
      name: 'renew',
      takes: '[certificate]',
      description: 'Put a new certificate in the place of one, by its name, or of all.',
      run: async (cluster, [which = 'all']) => (await import('../commands/certs.ts')).runCertsRenew(which, cluster),
    }),
    command({
      name: 'upload',
      description:
        'Encrypt the authorities and keep them in the cluster for two hours, for machines that join as control planes.',
      flags: {
        ...clusterRows,
        certificateKey: flag.string({
          name: 'certificate-key',
          default: '',
          usual: 'a new one, which is printed',
          help: 'Key to encrypt them with, 32 bytes in hexadecimal.',
        }),
      },
      run: async ({ given, values: { name } }) => (await import('../commands/certs.ts')).runCertsUpload({ ...given, name }),
    }),
  ],
};

const machine = flag.bool({
  name: 'machine',
  default: false,
  help: 'Not a cluster, but the node that this machine has joined as.',
});

const service: Command = {
  name: 'service',
  description: 'A cluster as a service of systemd: install, uninstall.',
  commands: [
    command({
      name: 'install',
      description: 'Have systemd start a cluster at boot, and again when it fails.',
      flags: {
        ...clusterRows,
        machine,
        now: flag.bool({ name: 'now', default: false, help: 'Also start it now.' }),
        print: flag.bool({ name: 'print', default: false, help: 'Only print the unit.' }),
      },
      run: async ({ values }) => (await import('../commands/service.ts')).runServiceInstall(values),
    }),
    command({
      name: 'uninstall',
      description: 'Stop it and have systemd forget it; the data is kept.',
      flags: { ...clusterRows, machine },
      run: async ({ values }) => (await import('../commands/service.ts')).runServiceUninstall(values),
    }),
  ],
};

const join = command({
  name: 'join',
  suggestFor: ['agent'],
  takes: '[endpoint]',
  description: 'Make this machine a node of a cluster and stay in the foreground; Ctrl-C stops the node and keeps its data.',
  flags: joinFlags,
  run: async ({ given, args: [endpoint] }) => (await import('../commands/join.ts')).runJoin(endpoint, given),
});

const leave = command({
  name: 'leave',
  description: 'Undo all that join did on this machine, and take its node out of the cluster.',
  flags: {
    dataDir: machineDir,
    force: flag.bool({
      name: 'force',
      default: false,
      help: 'Go on where its member of etcd cannot be taken out, which may leave the others without a majority.',
    }),
  },
  run: async ({ given }) => (await import('../commands/join.ts')).runLeave(given),
});

export const machineCommands: readonly Command[] = [token, certs, service, join, leave];
