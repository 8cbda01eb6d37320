// `sagong up`: in the foreground, or detached in a process of its own.
import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DemoOptions } from '#cluster';
import {
  assertFree,
  componentArgsOf,
  clusterNetworks,
  clusterPaths,
  createProgress,
  dataDirOf,
  etcdFromFlags,
  type NodeMount,
  type PortMapping,
  type RunningCluster,
  summary,
  up,
  type UpOptions,
  wordOf,
} from '#cluster/start';
import { type UpFlags, upDefaults } from '#cluster/flags';
import { createLogger, gitVersion } from '#component-base';
import { openLogFile, optimizeLater, systemClock, systemRng } from '#host';
import { checkedAsFlags } from '../config/checked-as-flags.ts';
import { readConfig } from '../config/config-file.ts';
import { again, detach } from '../process/detach.ts';
import { onFatal } from '../process/fail.ts';
import { descriptions, packageFile, programOf } from '../process/program.ts';
import { warn } from '../process/say.ts';
import { stopSignal, unlessEnded } from '../process/stop-signal.ts';

/** Both flags or none; paths of files as seen from here. */
function auditOf({ auditPolicyFile: policy, auditLogPath: log }: UpFlags): UpOptions['audit'] {
  if (policy === undefined && log === undefined) return undefined;
  if (policy === undefined || log === undefined)
    throw new Error('--audit-policy-file and --audit-log-path must be given together');
  return { policyFile: resolve(policy), logPath: log === '-' ? log : resolve(log) };
}

function onlyOne(documents: readonly unknown[]): unknown {
  if (documents.length > 1)
    throw new Error(`--config: the file holds ${documents.length} documents, and kind's configuration is one`);
  return documents[0];
}

/** What a file in kind's or kubeadm's words says, where no flag does. */
async function configured(
  flags: UpFlags,
  config: string | undefined,
): Promise<
  Pick<UpOptions, 'nodeArgs'> & {
    flags: UpFlags;
    labels: readonly Record<string, string>[];
    ports?: PortMapping[];
    mounts?: NodeMount[];
  }
> {
  if (config === undefined) return { flags, labels: [] };
  const { documentsIn, fromKubeadmConfig, isKubeadm } = await import('../config/kubeadm-config.ts');
  const documents = documentsIn(config);
  if (documents.some(isKubeadm)) {
    const facts = { ...clusterNetworks, version: gitVersion.replace(/\+.*$/, '') };
    const { args, ...shape } = checkedAsFlags(fromKubeadmConfig(documents, facts));
    return { flags: { ...args, ...shape, ...flags }, labels: [] };
  }
  const { fromKindConfig } = await import('../config/kind-config.ts');
  const { labels, ports, mounts, args, nodeArgs, ...shape } = checkedAsFlags(fromKindConfig(onlyOne(documents), clusterNetworks));
  return {
    flags: { ...args, ...shape, ...flags },
    labels,
    ...(ports && { ports }),
    ...(nodeArgs && { nodeArgs: nodeArgs.map((words) => words.map((text) => wordOf('config', text))) }),
    ...(mounts && { mounts: mounts.map((mount) => ({ ...mount, source: resolve(mount.source) })) }),
  };
}

/** Sets the labels of the nodes, in their order. Nodes without labels are left alone. */
async function labelNodes({ plane, settings }: RunningCluster, labels: readonly Record<string, string>[]): Promise<void> {
  const { identities } = await import('#cluster');
  const nodes = plane.client(identities.admin, 'sagong').resource({ group: '', version: 'v1', resource: 'nodes' });
  await Promise.all(
    settings.nodes.map(async (name, index) => {
      const wanted = labels[index] ?? {};
      if (Object.keys(wanted).length > 0)
        await nodes.patch(name, 'application/merge-patch+json', { metadata: { labels: wanted } });
    }),
  );
}

export async function runUp(given: UpFlags): Promise<void> {
  const config = given.config === undefined ? undefined : readConfig(given.config);
  const { flags, labels, ports, mounts, nodeArgs } = await configured(given, config);
  const { name = upDefaults.name } = flags;
  const audit = auditOf(flags);
  const componentArgs = componentArgsOf(flags);
  const etcd = etcdFromFlags(flags);
  const dataDir = dataDirOf(name, flags.dataDir);
  assertFree(dataDir);
  if (flags.detach) return detach(dataDir, 'cluster', { config });
  const program = programOf();
  // The data directory belongs into the command line of every process of a cluster: start again with it when it was left out.
  if (flags.dataDir !== dataDir) return again(dataDir, { config });
  await optimizeLater();
  const files = { audit, componentArgs, etcd, portMappings: ports, mounts, nodeArgs };
  const options: UpOptions = { ...flags, ...files, name, dataDir, program, env: process.env };
  const clock = systemClock();
  const progress = createProgress(process.stdout, clock);
  const log = openLogFile(clusterPaths(dataDir).log);
  const logger = createLogger({ clock, component: 'sagong', write: (text) => void log.write(text) });
  // The next start begins a new log of what was said here; this one keeps why the cluster ended.
  onFatal((text) => appendFileSync(clusterPaths(dataDir).log, text));
  const signal = stopSignal();
  const cluster = await unlessEnded(signal, up(options, { clock, rng: systemRng(), logger, progress, descriptions, signal }));
  let failure: Error | undefined;
  try {
    await labelNodes(cluster, labels);
    if (flags.demo) await tryDemo(cluster, { progress, clock, signal, file: packageFile('examples/demo.yaml') });
    progress.say(await summary(cluster));
    await cluster.announce();
    failure = await Promise.race([cluster.failed, stopped(signal)]);
    if (failure) {
      logger.error('the cluster cannot go on', { err: failure.message });
      warn(`the cluster cannot go on: ${failure.message}`);
    } else logger.info('stopping', { reason: String(signal.reason) });
  } finally {
    progress.say('\nStopping; the data is kept (sagong down removes it)');
    await cluster.stop();
  }
  process.exit(failure ? 1 : 0);
}

const stopped = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

/** A demo that fails is no reason to take the cluster away: in it can be seen why. */
async function tryDemo(cluster: RunningCluster, options: DemoOptions): Promise<void> {
  try {
    const { runDemo } = await import('#cluster');
    await runDemo(cluster, options);
  } catch (error) {
    if (options.signal.aborted) return;
    const { message } = error as Error;
    options.progress.say(`The demo failed: ${message}`);
    options.progress.say(`The cluster runs without it. To try again: kubectl apply -f ${options.file}`);
  }
}
