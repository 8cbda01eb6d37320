// Names and options of the commands about machines: token, join, leave, certs (their words are kubeadm's), service.
import type { Command } from 'commander';
import type { ServiceFlags } from './commands/service.ts';
import type { JoinFlags } from './commands/join.ts';
import type { TokenFlags } from './commands/token.ts';

interface Flags {
  name: string;
  dataDir?: string;
}

function addCertsCommands(program: Command, clusterName: (text: string) => string): void {
  const certs = program.command('certs').description('Certificates of a cluster: check, renew.');
  const certsCommand = (usage: string, description: string): Command =>
    certs
      .command(usage)
      .description(description)
      .option('--name <name>', 'name of the cluster', clusterName, 'sagong')
      .option('--data-dir <dir>', 'where everything of the cluster is kept (default: ~/.sagong/<name>)');
  certsCommand('check', 'List the certificates, how long they are good, and who has signed them.').action(async (flags: Flags) =>
    (await import('./commands/certs.ts')).runCertsCheck(flags),
  );
  certsCommand('renew [certificate]', 'Put a new certificate in the place of one, by its name, or of all.').action(
    async (which: string | undefined, flags: Flags) => (await import('./commands/certs.ts')).runCertsRenew(which ?? 'all', flags),
  );
}

function addServiceCommands(program: Command, clusterName: (text: string) => string): void {
  const service = program.command('service').description('A cluster as a service of systemd: install, uninstall.');
  const serviceCommand = (usage: string, description: string): Command =>
    service
      .command(usage)
      .description(description)
      .option('--name <name>', 'name of the cluster', clusterName, 'sagong')
      .option('--data-dir <dir>', 'where everything of the cluster is kept (default: ~/.sagong/<name>)')
      .option('--machine', 'not a cluster, but the node that this machine has joined as');
  serviceCommand('install', 'Have systemd start a cluster at boot, and again when it fails.')
    .option('--now', 'also start it now')
    .option('--print', 'only print the unit')
    .action(async (flags: ServiceFlags) => (await import('./commands/service.ts')).runServiceInstall(flags));
  serviceCommand('uninstall', 'Stop it and have systemd forget it; the data is kept.').action(async (flags: ServiceFlags) =>
    (await import('./commands/service.ts')).runServiceUninstall(flags),
  );
}

/** `clusterName` reads `--name`. */
export function addMachineCommands(program: Command, clusterName: (text: string) => string): void {
  const token = program.command('token').description('Bootstrap tokens, by which machines join: create, list, delete.');
  const tokenCommand = (usage: string, description: string): Command =>
    token
      .command(usage)
      .description(description)
      .option('--name <name>', 'name of the cluster', clusterName, 'sagong')
      .option('--data-dir <dir>', 'where everything of the cluster is kept (default: ~/.sagong/<name>)');
  tokenCommand('create [token]', 'Make a token, or the one that is given.')
    .option('--ttl <duration>', 'how long it lasts, e.g. 1s, 2m, 3h; 0: it never ends', '24h')
    .option('--description <text>', 'what it is for')
    .option('--usages <usage...>', 'what it may be used for: signing, authentication (default: both)')
    .option('--groups <group...>', 'groups of who uses it (default: system:bootstrappers:kubeadm:default-node-token)')
    .option('--print-join-command', 'print the whole command that joins a machine, and not the token alone')
    .action(async (given: string | undefined, flags: TokenFlags) =>
      (await import('./commands/token.ts')).runTokenCreate(given, flags),
    );
  tokenCommand('list', 'List the tokens.').action(async (flags: TokenFlags) =>
    (await import('./commands/token.ts')).runTokenList(flags),
  );
  tokenCommand('delete <token...>', 'Delete tokens, by themselves or by their ids.').action(
    async (tokens: string[], flags: TokenFlags) => (await import('./commands/token.ts')).runTokenDelete(tokens, flags),
  );
  addCertsCommands(program, clusterName);
  addServiceCommands(program, clusterName);
  program
    .command('join [endpoint]')
    .description('Make this machine a node of a cluster and stay in the foreground; Ctrl-C stops the node and keeps its data.')
    .option('--token <token>', 'a bootstrap token of the cluster; for discovery and TLS bootstrap')
    .option('--discovery-token-ca-cert-hash <hash...>', 'public key of the authority that the cluster must have: sha256:<hex>')
    .option('--discovery-token-unsafe-skip-ca-verification', 'believe whoever knows the token')
    .option('--node-name <name>', "name of the node (default: the machine's host name)")
    .option('--node-ip <address>', 'address of the node (default: the one that reaches the endpoint)')
    .option('--registry-mirror <[registry=]url...>', 'where the node pulls images from, for all registries or one')
    .option('--control-plane', 'become a further control plane (not supported)')
    .option('--certificate-key <key>', 'of a further control plane (not supported)')
    .option('--data-dir <dir>', 'where everything of the node is kept (default: ~/.sagong/machine)')
    .option('--detach', 'return when the node is Ready and leave it running')
    .action(async (endpoint: string | undefined, flags: JoinFlags) =>
      (await import('./commands/join.ts')).runJoin(endpoint, flags),
    );
  program
    .command('leave')
    .description('Undo all that join did on this machine, and take its node out of the cluster.')
    .option('--data-dir <dir>', 'where everything of the node is kept (default: ~/.sagong/machine)')
    .action(async (flags: { dataDir?: string }) => (await import('./commands/join.ts')).runLeave(flags));
}
