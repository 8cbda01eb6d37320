// `sagong join` and `sagong leave`.
import { join as joinPath } from 'node:path';
import { dataDirOf, join, leave, runningProcess, writeRunState } from '#cluster';
import { createLogger } from '#component-base';
import { ensureDir, openLogFile, shutdownSignal, systemClock } from '#host';
import { again, detach } from '../detach.ts';
import { programOf } from '../program.ts';

export interface JoinFlags {
  token?: string;
  discoveryTokenCaCertHash?: string[];
  discoveryTokenUnsafeSkipCaVerification?: boolean;
  nodeName?: string;
  nodeIp?: string;
  registryMirror?: string[];
  dataDir?: string;
  detach?: boolean;
  controlPlane?: boolean;
  certificateKey?: string;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const dirOf = (given: string | undefined): string => dataDirOf('machine', given);

/** `host:port`, with or without a scheme. */
function endpointOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const plain = text.replace(/^https:\/\//, '').replace(/\/$/, '');
  if (!/^(\[[0-9a-fA-F:]+\]|[\w.-]+)(:\d{1,5})?$/.test(plain))
    throw new Error(`an endpoint is host:port, not ${JSON.stringify(text)}`);
  return /:\d+$/.test(plain) ? plain : `${plain}:6443`;
}

function hashesOf(given: readonly string[] = []): string[] {
  const hashes = given.flatMap((text) => text.split(','));
  const wrong = hashes.find((hash) => !/^sha256:[0-9a-f]{64}$/i.test(hash));
  if (wrong !== undefined) throw new Error(`invalid hash ${JSON.stringify(wrong)}, expected "sha256:" and 64 hexadecimal digits`);
  return hashes.map((hash) => hash.toLowerCase());
}

export async function runJoin(given: string | undefined, flags: JoinFlags): Promise<void> {
  if (flags.controlPlane || flags.certificateKey !== undefined)
    throw new Error('--control-plane is not supported: a cluster has one control plane, and other machines join it as nodes');
  const dir = dirOf(flags.dataDir);
  const endpoint = endpointOf(given);
  const hashes = hashesOf(flags.discoveryTokenCaCertHash);
  if (flags.detach) return detach(dir, 'node');
  // Other commands know the process by the folder in its command line.
  if (flags.dataDir !== dir) return again(dir);
  const clock = systemClock();
  const other = await runningProcess(dir);
  if (other && other.pid !== process.pid) throw new Error(`the node in ${dir} is already running (process ${other.pid})`);
  await ensureDir(joinPath(dir, 'logs'));
  const log = openLogFile(joinPath(dir, 'logs', 'sagong.log'));
  const logger = createLogger({ clock, component: 'sagong', write: (text) => void log.write(text) });
  const { signal } = shutdownSignal();
  const startedAtMs = clock.now();
  await writeRunState(dir, { pid: process.pid, startedAtMs, ready: false });
  const { token, nodeName, nodeIp, registryMirror: registryMirrors, discoveryTokenUnsafeSkipCaVerification: skipHashes } = flags;
  const machine = await join(
    {
      ...{ dir, hashes, nodeName, nodeIp, program: programOf() },
      ...(endpoint !== undefined && { endpoint }),
      ...(token !== undefined && { token }),
      ...(skipHashes && { skipHashes }),
      ...(registryMirrors && { registryMirrors }),
    },
    { clock, logger, signal },
  );
  const { nodeName: name, server } = machine.settings;
  say(`This machine is the node ${name} of ${server}; see it there with: kubectl get nodes`);
  await writeRunState(dir, { pid: process.pid, startedAtMs, server, ready: true });
  if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  await machine.stop();
  process.exit(0);
}

export async function runLeave({ dataDir }: { dataDir?: string }): Promise<void> {
  const dir = dirOf(dataDir);
  const left = await leave(dir, systemClock());
  say('This machine is no node any more: what ran was ended, and routes, rules and files were removed');
  for (const what of left) process.stderr.write(`${what}; on the first machine: sagong node remove\n`);
}
