// The control plane of a machine in a cluster of several: etcd, kube-apiserver and managers as processes of their own, kept running by the process of
// `sagong up` or `sagong join`, with certificates in kubeadm's places below `control-planes/<name>` of its folder.
import { join } from 'node:path';
import type { Supervisor } from '#component-base';
import { removeTree } from '#host';
import type { Clock, Logger } from '#utils';
import { type ClusterPki, openPki } from '../certificates/certificates.ts';
import { assertSecretKey } from '../certificates/secret-encryption.ts';
import type { ComponentArgs } from '../flags/component-args.ts';
import type { PlaneAccess } from '../control-plane.ts';
import { planeArgs } from '../control-planes/args.ts';
import { ControlPlaneAgent } from '../control-planes/agent.ts';
import { type ControlPlaneConfig, controlPlaneFiles, type ControlPlaneMember } from '../control-planes/config.ts';
import { controlPlaneDir, clusterMark, clusterPaths } from '../state/paths.ts';
import { keepEncryption, prepareControlPlane } from '../control-planes/disk.ts';
import { finishRestore } from '../control-planes/etcd-snapshot.ts';
import { throughMember } from '../control-planes/etcd-members.ts';
import { acceptPollMs } from '../control-planes/limits.ts';
import { noteJoined } from '../control-planes/member.ts';
import { apiPort, etcdPorts } from '../control-planes/names.ts';
import { startRemotePlane } from '../control-planes/start.ts';
import { accepts } from '../nodes/processes.ts';
import { type ClusterSettings, type EtcdLocation, loadSettings } from '../state/settings.ts';
import { clusterNetworks } from '../state/networks.ts';
import { migrateToEtcd } from '../store/store-migrate.ts';
import { controlPlaneNamed } from './own-plane.ts';

export interface MachinePlaneOptions extends ControlPlaneMember {
  dataDir: string;
  cluster: string;
  podCidr: string;
  /** Host under which all control planes are found. */
  endpointHost: string;
  /** Others whose etcd this one joins; empty: it is the first. */
  others: readonly ControlPlaneMember[];
  args: ComponentArgs;
  encryptSecrets: boolean;
  program: readonly string[];
}

export interface MachinePlane {
  plane: PlaneAccess;
  pki: ClusterPki;
  stop(): Promise<void>;
}

interface Deps {
  clock: Clock;
  logger: Logger;
  supervisor: Supervisor;
  signal?: AbortSignal;
}

const local = '127.0.0.1';

/** Writes the machine's certificates and configuration, new ones where they are missing or old. */
export async function prepareMachinePlane(
  options: MachinePlaneOptions,
  pki: ClusterPki,
  clock: Clock,
): Promise<ControlPlaneConfig> {
  const { name, address, dataDir, cluster, podCidr, args, others, encryptSecrets, endpointHost: endpoint, program } = options;
  const pkiDir = clusterPaths(dataDir).pki;
  const directory = controlPlaneDir(dataDir, name);
  const encryptionConfig = join(controlPlaneFiles(directory).pki, 'encryption.json');
  const config: ControlPlaneConfig = {
    ...{ name, address, directory, program, cluster, podCidr, args },
    members: [...others, { name, address }],
    etcdToken: `sagong-${clusterMark(dataDir)}`,
    cloud: false,
    ...(encryptSecrets && { encryptionConfig }),
    kubeletAuthority: pki.kubeletAuthority !== undefined,
  };
  await prepareControlPlane(config, { dataDir, pkiDir, pki, endpoints: [endpoint], clock });
  // One that joins has the key of the others.
  if (encryptSecrets && others.length > 0) await assertSecretKey(pkiDir);
  if (encryptSecrets) await keepEncryption(pkiDir, config);
  // There is something to join: it begins nothing of its own.
  if (others.length > 0) await noteJoined(config);
  return config;
}

/** Starts the control plane of this machine; resolves when its apiserver answers. */
export async function startMachinePlane(options: MachinePlaneOptions, deps: Deps): Promise<MachinePlane> {
  const { address, dataDir, podCidr, encryptSecrets } = options;
  const pki = await openPki(clusterPaths(dataDir).pki);
  const before = await controlPlaneNamed(dataDir, options.name);
  // A restore of a snapshot may have been cut off.
  if (before) await finishRestore([before]);
  const config = await prepareMachinePlane(options, pki, deps.clock);
  const agent = new ControlPlaneAgent(config, deps);
  agent.start();
  try {
    const at = { url: `https://${address}:${apiPort}` };
    const settings = { podCidr, ...(encryptSecrets && { encryptSecrets }) };
    const plane = await startRemotePlane({ settings, pki, at, supervisor: deps.supervisor }, deps);
    return { plane, pki, stop: () => agent.stop() };
  } catch (error) {
    await agent.stop();
    throw error;
  }
}

/** What a first machine's control plane is, by the settings of the cluster. */
export function firstPlaneOptions(settings: ClusterSettings, program: readonly string[]): MachinePlaneOptions {
  const { dataDir, name: cluster, podCidr = clusterNetworks.podCidr, machine } = settings;
  const { advertiseAddress: address = '', controlPlane: name = '', controlPlaneEndpoint = address } = machine ?? {};
  return {
    ...{ dataDir, cluster, podCidr, args: planeArgs(settings), program, name, address },
    endpointHost: controlPlaneEndpoint.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''),
    others: [],
    encryptSecrets: settings.encryptSecrets ?? false,
  };
}

const etcdLocation = (config: ControlPlaneConfig): EtcdLocation => {
  const { etcdCa, etcdClient } = controlPlaneFiles(config.directory);
  return {
    servers: [`https://${local}:${etcdPorts.client}`],
    caFile: etcdCa,
    certFile: etcdClient.cert,
    keyFile: etcdClient.key,
  };
};

/**
 * A cluster that was one process with a store of its own: its data is moved to the etcd of this machine, once. What was begun and not finished is
 * begun again. Gives how much was moved; undefined: there is nothing to move.
 */
export async function moveToOwnEtcd(options: MachinePlaneOptions, deps: Deps): Promise<number | undefined> {
  const { dataDir, name } = options;
  const before = await loadSettings(dataDir);
  if (!before?.machine || before.machine.controlPlane !== undefined) return undefined;
  await removeTree(controlPlaneDir(dataDir, name));
  const config = await prepareMachinePlane(options, await openPki(clusterPaths(dataDir).pki), deps.clock);
  const agent = new ControlPlaneAgent(config, { clock: deps.clock, logger: deps.logger });
  agent.start(['etcd']);
  try {
    while (!(await accepts({ host: local, port: etcdPorts.client }))) await deps.clock.sleep(acceptPollMs, deps.signal);
    await throughMember(config, local, deps.clock, (members) => members.list());
    const grown = (settings: ClusterSettings): ClusterSettings => ({
      ...settings,
      ...(settings.machine && { machine: { ...settings.machine, controlPlane: name } }),
    });
    return (await migrateToEtcd(dataDir, etcdLocation(config), grown)).keys;
  } finally {
    await agent.stop();
  }
}
