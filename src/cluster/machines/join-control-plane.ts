// `sagong join --control-plane`: the machine gets the cluster's authorities with the certificate key, its etcd becomes a member (a learner first), and its
// apiserver and managers start. Then it becomes a node like any other, whose programs ask the apiserver beside them.
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createClient, createRestTransport, kubeconfigFor, writeKubeconfig } from '#client';
import { Supervisor, userAgent } from '#component-base';
import { readFileIfExists, removeTree } from '#host';
import type { Clock } from '#utils';
import { type ClusterPki, clientConfigFor, openPki } from '../certificates.ts';
import { assertControlPlanePrograms } from '../control-planes/choice.ts';
import { controlPlaneDir, type ControlPlaneMember } from '../control-planes/config.ts';
import { apiPort, etcdPorts } from '../control-planes/names.ts';
import { identities } from '../identities.ts';
import { downloadCertificates, writeCertificates } from '../joining/certificates.ts';
import { startJoiningLoops } from '../joining/index.ts';
import { clusterPaths } from '../paths.ts';
import { keepRenewing } from '../renewal.ts';
import { type MachinePlane, type MachinePlaneOptions, startMachinePlane } from './control-plane.ts';
import type { JoinDeps, JoinOptions } from './join.ts';
import { markControlPlane } from './labels.ts';
import { leaveEtcd } from './leave-etcd.ts';
import { type MachineSettings, machinePaths } from './machine.ts';
import type { Published } from './published.ts';

export interface WayIn {
  server: string;
  ca: string;
  published: Published;
  settings: MachineSettings;
  token: string;
  certificateKey: string;
}

interface JoinedPlane {
  settings: MachineSettings;
  /** Has its Node say what it is. */
  mark(): Promise<void>;
  stop(): Promise<void>;
  /** Of a join that failed: it is no member any more, and has no authorities. */
  undo(): Promise<void>;
}

const ports = [apiPort, etcdPorts.client, etcdPorts.peer, 10_257, 10_259];

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '0.0.0.0' }, () => server.close(() => resolve(true)));
  });

/** Rejects with what keeps this machine or this cluster from it. */
async function preflight({ controlPlaneEndpoint }: Published): Promise<void> {
  if (controlPlaneEndpoint === undefined)
    throw new Error(
      'this cluster has one control plane, with a store of its own that no other machine can share: on its first machine, `sagong stop` and `sagong up --control-planes 1` move the data to etcd; then join again',
    );
  assertControlPlanePrograms(['etcd', 'setpriv']);
  for (const port of ports)
    if (!(await isFree(port))) throw new Error(`port ${port} of this machine is in use: is it a control plane already?`);
}

/** The machines of the control plane, as their apiservers say: the etcd of each is beside it. */
async function others(server: string, pki: ClusterPki, own: string, clock: Clock): Promise<ControlPlaneMember[]> {
  const config = clientConfigFor(pki, identities.admin, server);
  const client = createClient(createRestTransport({ config, clock, userAgent: userAgent('sagong') }));
  try {
    const { subsets = [] } = await client
      .resource<{ metadata: object; subsets?: { addresses?: { ip: string }[] }[] }>(
        { group: '', version: 'v1', resource: 'endpoints' },
        'default',
      )
      .get('kubernetes');
    const addresses = subsets.flatMap((subset) => (subset.addresses ?? []).map(({ ip }) => ip));
    return addresses.filter((address) => address !== own).map((address) => ({ name: address, address }));
  } finally {
    client.close();
  }
}

async function authorities({ server, ca, token, certificateKey }: WayIn, pkiDir: string, clock: Clock): Promise<ClusterPki> {
  const client = createClient(createRestTransport({ config: { server, ca, token }, clock, userAgent: userAgent('sagong') }));
  try {
    const found = await downloadCertificates(client, certificateKey);
    if (found.get('ca.crt')?.toString('utf8').trim() !== ca.trim())
      throw new Error('the uploaded authority is not that of the cluster; upload the certificates again: sagong certs upload');
    await writeCertificates(pkiDir, found);
  } finally {
    client.close();
  }
  return openPki(pkiDir);
}

/** Everything beside etcd, apiserver and managers. */
async function withLoops(dir: string, { plane, stop }: MachinePlane, deps: JoinDeps): Promise<() => Promise<void>> {
  const loops = await startJoiningLoops(plane, deps, false);
  const renewing = keepRenewing(dir, undefined, deps);
  return async () => {
    renewing();
    await loops.stop();
    await stop();
  };
}

const hostOf = (endpoint: string): string => endpoint.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');

type Facts = Pick<MachinePlaneOptions, 'others' | 'args'>;

function planeOptions({ dir, program }: JoinOptions, settings: MachineSettings, facts: Facts): MachinePlaneOptions {
  const { nodeName: name, nodeIp: address, podCidr, controlPlane } = settings;
  const { cluster = '', endpoint = '', encryptSecrets = false } = controlPlane ?? {};
  return { ...facts, name, address, podCidr, cluster, program, encryptSecrets, dataDir: dir, endpointHost: hostOf(endpoint) };
}

export async function joinControlPlane(options: JoinOptions, way: WayIn, deps: JoinDeps): Promise<JoinedPlane> {
  const { dir } = options;
  const { clock } = deps;
  const { pki: pkiDir, kubeconfig } = clusterPaths(dir);
  await preflight(way.published);
  const { cluster, controlPlaneEndpoint: endpoint = '', args } = way.published;
  const pki = await authorities(way, pkiDir, clock);
  const { nodeIp, nodeName } = way.settings;
  const server = `https://${nodeIp}:${apiPort}`;
  const encryptSecrets = await hasEncryptionKey(pkiDir);
  const settings: MachineSettings = { ...way.settings, server, controlPlane: { cluster, endpoint, encryptSecrets, args } };
  const undo = async (): Promise<void> => {
    await leaveEtcd(dir, settings, clock).catch((error: unknown) =>
      deps.logger.error('this machine may still be a member of etcd', { err: error }),
    );
    await stop?.();
    for (const path of [pkiDir, controlPlaneDir(dir, nodeName)]) await removeTree(path);
    for (const path of [kubeconfig, machinePaths(dir).settings]) await rm(path, { force: true });
  };
  let stop: (() => Promise<void>) | undefined;
  try {
    const found = await others(way.server, pki, nodeIp, clock);
    const supervised = { ...deps, supervisor: new Supervisor(deps) };
    const machine = await startMachinePlane(planeOptions(options, settings, { others: found, args }), supervised);
    stop = machine.stop;
    await writeKubeconfig(kubeconfig, kubeconfigFor(cluster, clientConfigFor(pki, identities.admin, server)));
    stop = await withLoops(dir, machine, deps);
    const mark = async (): Promise<void> => {
      const admin = machine.plane.client(identities.admin, 'sagong');
      await markControlPlane(admin, nodeName).finally(() => admin.close());
    };
    return { settings, mark, stop, undo };
  } catch (error) {
    await undo();
    throw error;
  }
}

const hasEncryptionKey = async (pkiDir: string): Promise<boolean> =>
  (await readFileIfExists(join(pkiDir, 'encryption.json'))) !== undefined;

/** After a restart of the machine. */
export async function startControlPlaneAgain(
  options: JoinOptions,
  settings: MachineSettings,
  deps: JoinDeps,
): Promise<{ stop(): Promise<void> }> {
  const args = settings.controlPlane?.args ?? {};
  const supervised = { ...deps, supervisor: new Supervisor(deps) };
  const machine = await startMachinePlane(planeOptions(options, settings, { others: [], args }), supervised);
  return { stop: await withLoops(options.dir, machine, deps) };
}
