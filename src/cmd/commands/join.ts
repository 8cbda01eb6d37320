// `sagong join` and `sagong leave`.
import { once } from 'node:events';
import { rmdir } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import {
  claimRunState,
  dataDirOf,
  join,
  type JoinOptions,
  leave,
  type MachineSettings,
  parseCertificateKey,
  removeRunState,
  wordOf,
  writeRunState,
} from '#cluster';
import { createLogger, type FlagValues } from '#component-base';
import { ensureDir, openLogFile, systemClock, systemRng } from '#host';
import { visible } from '#utils';
import { readConfig } from '../config/config-file.ts';
import { again, detach } from '../process/detach.ts';
import { type HandedOver, takeOver } from '../process/handed-over.ts';
import { programOf } from '../process/program.ts';
import type { joinFlags } from '../flags/join.ts';
import { say } from '../process/say.ts';
import { stopSignal, unlessEnded } from '../process/stop-signal.ts';

/** What was given of them. */
type JoinFlags = Partial<FlagValues<typeof joinFlags>>;

const dirOf = (given: string | undefined): string => dataDirOf('machine', given);

/** `host:port`, with or without a scheme. */
function endpointOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const plain = text.replace(/^https:\/\//, '').replace(/\/$/, '');
  if (!/^(\[[0-9a-fA-F:]+\]|[\w.-]+)(:\d{1,5})?$/.test(plain))
    throw new Error(`an endpoint is host:port, not ${JSON.stringify(text)}`);
  const [, port] = /:(\d+)$/.exec(plain) ?? [];
  if (port !== undefined && !(Number(port) > 0 && Number(port) < 65_536))
    throw new Error(`an endpoint is host:port, with a port from 1 to 65535, not ${JSON.stringify(text)}`);
  return port === undefined ? `${plain}:6443` : plain;
}

function hashesOf(hashes: readonly string[] = []): string[] {
  const wrong = hashes.find((hash) => !/^sha256:[0-9a-f]{64}$/i.test(hash));
  if (wrong !== undefined) throw new Error(`invalid hash ${JSON.stringify(wrong)}, expected "sha256:" and 64 hexadecimal digits`);
  return hashes.map((hash) => hash.toLowerCase());
}

/** Both or none. */
function certificateKeyOf({ controlPlane = false, certificateKey }: JoinFlags): string | undefined {
  if (certificateKey !== undefined && !controlPlane) throw new Error('--certificate-key needs --control-plane');
  if (controlPlane && certificateKey === undefined)
    throw new Error('--control-plane needs --certificate-key: make one on a control plane with: sagong certs upload');
  if (certificateKey !== undefined) parseCertificateKey(certificateKey);
  return certificateKey;
}

/** What a file in kubeadm's words says, where no flag does. */
async function configured(
  given: string | undefined,
  flags: JoinFlags,
  config: string | undefined,
): Promise<JoinFlags & Pick<JoinOptions, 'endpoint' | 'kubeletArgs'>> {
  if (config === undefined) return { ...flags, endpoint: given };
  const { documentsIn, fromJoinConfig } = await import('../config/kubeadm-config.ts');
  const { kubeletArgs, endpoint, ...rest } = fromJoinConfig(documentsIn(config));
  const words = kubeletArgs.map((text) => wordOf('config', text));
  return { ...rest, ...flags, endpoint: given ?? endpoint, kubeletArgs: words };
}

/** The secrets that open the cluster to anybody who reads them. They appear in no command line of a process that goes on running. */
const secretsIn = ({ token, certificateKey }: JoinFlags): HandedOver => ({
  ...(token !== undefined && { token }),
  ...(certificateKey !== undefined && { certificateKey }),
});

export async function runJoin(place: string | undefined, typed: JoinFlags): Promise<void> {
  const dir = dirOf(typed.dataDir);
  const words = secretsIn(typed);
  const config = typed.config === undefined ? undefined : readConfig(typed.config);
  // Other commands know the process by the folder in its command line.
  const stays = !typed.detach && typed.dataDir === dir && Object.keys(words).length === 0;
  const flags = await configured(place, stays ? { ...typed, ...takeOver() } : typed, config);
  const { kubeletArgs = [] } = flags;
  const certificateKey = certificateKeyOf(flags);
  const endpoint = endpointOf(flags.endpoint);
  const hashes = hashesOf(flags.discoveryTokenCaCertHash);
  if (flags.detach) return detach(dir, 'node', { words, config });
  if (!stays) return again(dir, { words, config });
  const { token, nodeName, nodeIp, registryMirrors, discoveryTokenUnsafeSkipCaVerification: skipHashes } = flags;
  const given = { hashes, nodeName, nodeIp, endpoint, token, skipHashes, registryMirrors, kubeletArgs, certificateKey };
  await runMachine({ dir, ...given, program: programOf() });
  process.exit(0);
}

/** Makes this machine a node; resolves when it was told to stop, and nothing of it runs any more. */
async function runMachine(options: JoinOptions): Promise<void> {
  const { dir } = options;
  const clock = systemClock();
  await ensureDir(joinPath(dir, 'logs'));
  const log = openLogFile(joinPath(dir, 'logs', 'sagong.log'));
  const logger = createLogger({ clock, component: 'sagong', write: (text) => void log.write(text) });
  const signal = stopSignal();
  const startedAtMs = clock.now();
  const began = { pid: process.pid, startedAtMs, ready: false };
  await claimRunState(dir, began, 'node');
  let said = Promise.resolve();
  const tell = (waiting: string): void => {
    process.stderr.write(`${visible(waiting)}\n`);
    // The process that started this one in the background shows its messages.
    said = said.then(() => writeRunState(dir, { ...began, waiting })).catch(() => {});
  };
  try {
    const { settings, stop } = await unlessEnded(signal, join(options, { clock, rng: systemRng(), logger, signal, tell }));
    say(joinedAs(dir, settings));
    await said;
    await writeRunState(dir, { pid: process.pid, startedAtMs, server: settings.server, ready: true });
    if (!signal.aborted) await once(signal, 'abort');
    await stop();
  } finally {
    await said;
    await removeRunState(dir);
    // Where nothing came of it, and nothing is to be read about it. They stay where they hold anything.
    for (const folder of [joinPath(dir, 'logs'), dir]) await rmdir(folder).catch(() => undefined);
  }
}

const joinedAs = (dir: string, { nodeName, server, controlPlane }: MachineSettings): string =>
  controlPlane
    ? `This machine is the node ${nodeName} and a control plane of ${controlPlane.cluster}; see it with: kubectl --kubeconfig ${joinPath(dir, 'kubeconfig')} get nodes`
    : `This machine is the node ${nodeName} of ${server}; see it there with: kubectl get nodes`;

export async function runLeave({ dataDir, force = false }: { dataDir?: string; force?: boolean }): Promise<void> {
  const dir = dirOf(dataDir);
  const left = await leave(dir, systemClock(), { force });
  say('This machine is no node any more: what ran was ended, and routes, rules and files were removed');
  for (const what of left) process.stderr.write(`${visible(what)}; on the first machine: sagong node remove\n`);
}
