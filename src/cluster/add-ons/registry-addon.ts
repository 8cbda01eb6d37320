// `sagong up --registry`: a registry on loopback that nodes know by the same name, so that `docker push localhost:5000/app` is all it takes before a pod uses that image.
// Tools find it by the ConfigMap `local-registry-hosting` (KEP-1755). The registry is the reference one (https://distribution.github.io/distribution/), as a program
// of this machine.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { join } from 'node:path';
import { formatYaml } from '#apimachinery/codec';
import type { Running, Supervisor } from '#component-base';
import { atomicWrite, type NetnsSockets, openLogFile } from '#host';
import type { Clock } from '#utils';
import { pipeDuplex } from '#wire';
import { applyObjects } from '../objects/apply.ts';
import { findProgram } from '../capabilities.ts';
import { endpointAddress } from '../cloud/network.ts';
import type { PlaneAccess } from '../control-plane.ts';
import { identities } from '../certificates/identities.ts';

const startTimeoutMs = 15_000;
const startPollMs = 50;

/** The registry's name as people and pods write it. */
export const registryName = (port: number): string => `localhost:${port}`;
/** Where nodes find what has that name. */
export const registryMirror = (port: number): string => `${registryName(port)}=http://${endpointAddress}:${port}`;

/** The path of the registry's program. Throws an error that says what to install where there is no such program. */
export function registryProgram(): string {
  const found = findProgram('docker-registry') ?? findProgram('registry');
  if (found) return found;
  throw new Error(
    '--registry needs the program docker-registry (Debian and Ubuntu: apt-get install docker-registry) or registry (https://distribution.github.io/distribution/) in PATH',
  );
}

export interface RegistrySetup {
  port: number;
  /** The cluster's folder; images are kept in `registry` below it. */
  dataDir: string;
  plane: PlaneAccess;
  /** Sockets among the nodes. */
  sockets: NetnsSockets;
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** Resolves when it answers; rejects with why it does not. */
async function startProgram({ port, dataDir }: RegistrySetup, clock: Clock): Promise<Running> {
  const program = registryProgram();
  if (await accepts(port)) throw new Error(`port ${port} of 127.0.0.1 is taken; choose another with --registry PORT`);
  const dir = join(dataDir, 'registry');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const config = {
    version: '0.1',
    log: { level: 'warn', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(dir, 'images') }, delete: { enabled: true } },
    http: { addr: `127.0.0.1:${port}` },
  };
  const configFile = join(dir, 'config.yml');
  await atomicWrite(configFile, formatYaml(config));
  const log = openLogFile(join(dataDir, 'logs', 'registry.log'));
  // It ends with this process, however that ends.
  const words = ['--pdeathsig', 'KILL', program, 'serve', configFile];
  const child = spawn('setpriv', words, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => void log.write(chunk));
  const ended = once(child, 'exit').catch(() => undefined);
  let over = false;
  void ended.then(() => {
    over = true;
  });
  // What it said last may come after its end.
  child.once('close', () => log.end());
  const deadlineMs = clock.monotonic() + startTimeoutMs;
  while (!(await accepts(port))) {
    if (over || clock.monotonic() > deadlineMs) {
      child.kill('SIGKILL');
      throw new Error(`the registry does not answer; see ${join(dataDir, 'logs', 'registry.log')}`);
    }
    await clock.sleep(startPollMs);
  }
  return {
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Brings connections of nodes to the registry on loopback. */
async function relay({ port, sockets }: RegistrySetup): Promise<Server> {
  const server = await sockets.listen(endpointAddress, port);
  server.on('connection', (node) => {
    node.allowHalfOpen = true;
    void pipeDuplex(node, connect({ host: '127.0.0.1', port, allowHalfOpen: true }));
  });
  return server;
}

const hosting = (port: number): string =>
  formatYaml({
    host: registryName(port),
    help: 'https://github.com/kubernetes/enhancements/tree/master/keps/sig-cluster-lifecycle/generic/1755-communicating-a-local-registry',
  });

/** Starts the registry and publishes its address in the cluster. Rejects with a sentence when it cannot start. */
export async function startRegistry(
  setup: RegistrySetup,
  { clock, supervisor }: { clock: Clock; supervisor: Supervisor },
): Promise<Running> {
  const unit = await supervisor.run('registry', () => startProgram(setup, clock));
  const server = await relay(setup);
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'local-registry-hosting', namespace: 'kube-public' },
    data: { 'localRegistryHosting.v1': hosting(setup.port) },
  };
  await applyObjects(setup.plane.client(identities.admin, 'sagong'), [{ resource: 'configmaps', object }]);
  return {
    async stop() {
      server.close();
      await unit.stop();
    },
  };
}
