// `sagong join --control-plane`: the machine gets the cluster's authorities with the certificate key, its etcd becomes a member (a learner first), and its
// apiserver and managers start. Then it becomes a node like any other, whose programs ask the apiserver beside them.
import { rm } from 'node:fs/promises';
import { createClient, createRestTransport, kubeconfigFor, type KubeClient, writeKubeconfig } from '#client';
import { Supervisor, userAgent } from '#component-base';
import { removeTree } from '#host';
import type { Clock } from '#utils';
import { type ClusterPki, clientConfigFor } from '../certificates/certificates.ts';
import { assertControlPlanePrograms } from '../control-planes/choice.ts';
import type { ControlPlaneMember } from '../control-planes/config.ts';
import { controlPlaneDir, clusterPaths } from '../state/paths.ts';
import { apiPort, controlPlanePorts } from '../control-planes/names.ts';
import { identities } from '../certificates/identities.ts';
import { type Authorities, downloadCertificates, keepAuthorities } from '../joining/certificates.ts';
import { startJoiningLoops } from '../joining/index.ts';
import { assertPortsFree } from '../port-holder.ts';
import { keepRenewing } from '../renewal/renewal.ts';
import { type MachinePlane, type MachinePlaneOptions, prepareMachinePlane, startMachinePlane } from './control-plane.ts';
import type { JoinDeps, JoinOptions } from './join.ts';
import { clocksProblem } from './clocks.ts';
import { authorityHashes } from './cluster-info.ts';
import { markControlPlane } from './labels.ts';
import { leaveEtcd } from './leave-etcd.ts';
import { type MachineSettings, machinePaths, prepareMachine } from './machine.ts';
import { controlPlaneNamed } from './own-plane.ts';
import type { Published } from './published.ts';

export interface WayIn {
  server: string;
  ca: string;
  published: Published;
  settings: MachineSettings;
  token: string;
  certificateKey: string;
}

export interface JoinedPlane {
  settings: MachineSettings;
  /** Has its Node say what it is. */
  mark(): Promise<void>;
  stop(): Promise<void>;
}

interface BegunPlane extends JoinedPlane {
  /** Takes back a join that failed: the machine is no member any more, and its copies of the authorities' keys are removed. */
  undo(): Promise<void>;
}

/** Rejects with what keeps this machine or this cluster from it. */
async function preflight({ controlPlaneEndpoint }: Published): Promise<void> {
  if (controlPlaneEndpoint === undefined)
    throw new Error(
      'this cluster has one control plane, with a store of its own that no other machine can share: on its first machine, `sagong stop` and `sagong up --control-planes 1` move the data to etcd; then join again',
    );
  assertControlPlanePrograms(['etcd', 'setpriv']);
  await assertPortsFree(controlPlanePorts, 'a control plane');
}

/** Runs `work` with a client of the cluster's administrator. */
async function asAdmin<T>(server: string, pki: ClusterPki, clock: Clock, work: (client: KubeClient) => Promise<T>): Promise<T> {
  const config = clientConfigFor(pki, identities.admin, server);
  const client = createClient(createRestTransport({ config, clock, userAgent: userAgent('sagong') }));
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

const core = (resource: string) => ({ group: '', version: 'v1', resource });

/** The machines of the control plane, as their apiservers say: the etcd of each is beside it. */
async function others(client: KubeClient, own: string): Promise<ControlPlaneMember[]> {
  const { subsets = [] } = await client
    .resource<{ metadata: object; subsets?: { addresses?: { ip: string }[] }[] }>(core('endpoints'), 'default')
    .get('kubernetes');
  const addresses = subsets.flatMap((subset) => (subset.addresses ?? []).map(({ ip }) => ip));
  return addresses.filter((address) => address !== own).map((address) => ({ name: address, address }));
}

/** Rejects where this machine's clock is so far from the cluster's that they would not believe each other's tokens. */
async function assertClock(client: KubeClient, clock: Clock): Promise<void> {
  const beforeMs = clock.now();
  const { metadata } = await client
    .resource<{ metadata: { generateName?: string; creationTimestamp?: string } }>(core('configmaps'), 'kube-system')
    .create({ metadata: { generateName: 'what-time-is-it-' } }, { dryRun: true });
  const problem = clocksProblem(beforeMs, Date.parse(metadata.creationTimestamp ?? ''), clock.now());
  if (problem !== undefined) throw new Error(problem);
}

async function authorities({ server, ca, token, certificateKey }: WayIn, pkiDir: string, clock: Clock): Promise<Authorities> {
  const client = createClient(createRestTransport({ config: { server, ca, token }, clock, userAgent: userAgent('sagong') }));
  const found = await downloadCertificates(client, certificateKey).finally(() => client.close());
  const uploaded = authorityHashes(found.get('ca.crt')?.toString('utf8') ?? '');
  if (!authorityHashes(ca).every((hash) => uploaded.includes(hash)))
    throw new Error('the uploaded authority is not that of the cluster; upload the certificates again: sagong certs upload');
  return keepAuthorities(pkiDir, found);
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

/** Starts the machine's part of the control plane with its loops. */
async function startPlane(
  { dir }: JoinOptions,
  settings: MachineSettings,
  options: MachinePlaneOptions,
  deps: JoinDeps,
): Promise<JoinedPlane> {
  const machine = await startMachinePlane(options, { ...deps, supervisor: new Supervisor(deps) });
  const mark = async (): Promise<void> => {
    const admin = machine.plane.client(identities.admin, 'sagong');
    await markControlPlane(admin, settings.nodeName).finally(() => admin.close());
  };
  try {
    return { settings, mark, stop: await withLoops(dir, machine, deps) };
  } catch (error) {
    await machine.stop();
    throw error;
  }
}

/**
 * What a machine needs to go on is on its disk before it is a member of etcd: with a vote of two, the cluster stands still until it is back, and nobody
 * could be asked.
 */
export async function joinControlPlane(options: JoinOptions, way: WayIn, deps: JoinDeps): Promise<BegunPlane> {
  const { dir } = options;
  const { clock } = deps;
  const { pki: pkiDir, kubeconfig } = clusterPaths(dir);
  await preflight(way.published);
  const { cluster, controlPlaneEndpoint: endpoint = '', args } = way.published;
  const { pki, encryptSecrets } = await authorities(way, pkiDir, clock);
  const { nodeIp, nodeName } = way.settings;
  const server = `https://${nodeIp}:${apiPort}`;
  const settings: MachineSettings = { ...way.settings, server, controlPlane: { cluster, endpoint, encryptSecrets, args } };
  let stop: (() => Promise<void>) | undefined;
  const undo = async (): Promise<void> => {
    await leaveEtcd(dir, settings, clock).catch((error: unknown) =>
      deps.logger.error('this machine may still be a member of etcd', { err: error }),
    );
    await stop?.();
    const { settings: kept, bootstrapKubeconfig, authority, agentConfig } = machinePaths(dir);
    for (const path of [pkiDir, controlPlaneDir(dir, nodeName)]) await removeTree(path);
    for (const path of [kubeconfig, kept, bootstrapKubeconfig, authority, agentConfig]) await rm(path, { force: true });
  };
  try {
    const found = await asAdmin(way.server, pki, clock, async (admin) => {
      await assertClock(admin, clock);
      return others(admin, nodeIp);
    });
    const plane = planeOptions(options, settings, { others: found, args });
    // The member that it may have been is one no more.
    await removeTree(controlPlaneDir(dir, nodeName));
    await writeKubeconfig(kubeconfig, kubeconfigFor(cluster, clientConfigFor(pki, identities.admin, server)));
    await prepareMachinePlane(plane, pki, clock);
    await prepareMachine(dir, settings, way.ca, way.token);
    const joined = await startPlane(options, settings, plane, deps);
    ({ stop } = joined);
    return { ...joined, undo };
  } catch (error) {
    await undo();
    throw error;
  }
}

/** Members that a join had found which has not come to its end. */
async function othersOfJoin(dir: string, { nodeName, nodeIp }: MachineSettings): Promise<readonly ControlPlaneMember[]> {
  const begun = await controlPlaneNamed(dir, nodeName);
  return begun?.members.filter(({ address }) => address !== nodeIp) ?? [];
}

/** Starts the control plane of a machine that was restarted. `interrupted` says that it had not finished joining. */
export async function startControlPlaneAgain(
  options: JoinOptions,
  settings: MachineSettings,
  interrupted: boolean,
  deps: JoinDeps,
): Promise<JoinedPlane> {
  const args = settings.controlPlane?.args ?? {};
  const others = interrupted ? await othersOfJoin(options.dir, settings) : [];
  return startPlane(options, settings, planeOptions(options, settings, { others, args }), deps);
}
