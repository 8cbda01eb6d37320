// Every command of the `sagong` binary. Its code is loaded when it is called; names, flags and descriptions are here, for help, completion and docs/flags.md.
import { type Command, command } from '#component-base/flags';
import { clusterCommands } from './cluster.ts';
import { dataCommands } from './data.ts';
import { machineCommands } from './machines.ts';
import { nodeCommands } from './nodes.ts';
import { programCommands } from './programs.ts';

const about: readonly Command[] = [
  command({
    name: 'completion',
    takes: '<shell>',
    description: 'Print a script that completes this command line in bash, zsh or fish.',
    flags: {},
    run: async ({ args: [shell = ''] }) => (await import('../commands/local.ts')).runCompletion(shell, sagong),
  }),
  command({
    name: 'man',
    description: 'Print the manual page: sagong man | man -l -',
    flags: {},
    run: async () => (await import('../commands/local.ts')).runMan(sagong),
  }),
  command({
    name: 'version',
    description: 'Print the version.',
    flags: {},
    run: async () => (await import('../commands/status.ts')).runVersion(),
  }),
];

export const sagong: Command = {
  name: 'sagong',
  description: 'A complete Kubernetes in TypeScript.',
  commands: [...clusterCommands, nodeCommands, ...dataCommands, ...machineCommands, ...programCommands, ...about],
};
