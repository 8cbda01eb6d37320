// The flags of `sagong token create`. Their names are kubeadm's.
import { clusterRows } from '#cluster/flags';
import { flag } from '#component-base/flags';

export const tokenFlags = {
  ...clusterRows,
  ttlMs: flag.duration({ name: 'ttl', default: 86_400_000, help: 'How long it lasts, e.g. 1s, 2m, 3h; 0: it never ends.' }),
  description: flag.string({ name: 'description', default: '', help: 'What it is for.' }),
  usages: flag.strings({
    name: 'usages',
    default: ['signing', 'authentication'],
    help: 'What it may be used for: signing, authentication.',
  }),
  groups: flag.strings({
    name: 'groups',
    default: ['system:bootstrappers:kubeadm:default-node-token'],
    help: 'Groups of those who use it.',
  }),
  printJoinCommand: flag.bool({
    name: 'print-join-command',
    default: false,
    help: 'Print the whole command that joins a machine, and not the token alone.',
  }),
  certificateKey: flag.string({
    name: 'certificate-key',
    default: '',
    help: 'With --print-join-command: the command that joins a machine as a control plane (sagong certs upload).',
  }),
};
