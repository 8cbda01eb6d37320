// The machines of a control plane at a start of the cluster: their disks are made what they are to be, and their instances asked for.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#utils';
import type { ClusterPki } from '../certificates/certificates.ts';
import { upDefaults } from '../flags/index.ts';
import { clusterMark, clusterPaths, controlPlaneDir } from '../state/paths.ts';
import type { ClusterSettings } from '../state/settings.ts';
import { clusterNetworks } from '../state/networks.ts';
import type { Instance } from '#cloud';
import type { Machines } from '../cloud/machines.ts';
import { etcdDataDir } from './places.ts';
import { planeArgs } from './args.ts';
import { keptAudit } from './audit.ts';
import { type ControlPlaneConfig, controlPlaneFiles } from './config.ts';
import { keepEncryption, prepareControlPlane } from './disk.ts';
import type { ControlPlaneMachines } from './machines.ts';
import { noteJoined } from './member.ts';
import { ownFolder } from './own-folder.ts';

export interface BootOptions {
  settings: ClusterSettings;
  pki: ClusterPki;
  program: readonly string[];
  machines: ControlPlaneMachines;
  clock: Clock;
}

/** Once one machine's etcd has been a member, there is something to join. */
async function noteBootstrapped({ dataDir, controlPlanes = [], layout }: ClusterSettings): Promise<void> {
  const directories = controlPlanes.map((name) => controlPlaneDir(dataDir, name, layout)).filter((path) => existsSync(path));
  if (directories.some((directory) => existsSync(controlPlaneFiles(directory).etcdJoined)))
    await Promise.all(directories.map((directory) => noteJoined({ directory })));
}

/** Prepares the machines with these names; default: all of them. */
export async function prepareControlPlanes(
  { settings, pki, program, machines, clock }: BootOptions,
  names: readonly string[] = settings.controlPlanes ?? [],
): Promise<void> {
  const { dataDir, name: cluster, layout, podCidr = clusterNetworks.podCidr, cloudProvider, encryptSecrets } = settings;
  const pkiDir = clusterPaths(dataDir).pki;
  const { members } = machines;
  const endpoints = await machines.endpoints();
  const audit = await keptAudit(dataDir);
  for (const { name, address } of members.filter((member) => names.includes(member.name))) {
    const directory = controlPlaneDir(dataDir, name, layout);
    const encryptionConfig = join(controlPlaneFiles(directory).pki, 'encryption.json');
    const config: ControlPlaneConfig = {
      ...{ name, address, directory, program, cluster, members, podCidr },
      ...machines.sideOf(name),
      args: planeArgs(settings),
      ...(layout === 'pods' && { etcdData: etcdDataDir }),
      etcdToken: `sagong-${clusterMark(dataDir)}`,
      cloud: (cloudProvider ?? upDefaults.cloudProvider) === 'local',
      ...(encryptSecrets && { encryptionConfig }),
      ...(audit && { auditLog: audit.log }),
      kubeletAuthority: pki.kubeletAuthority !== undefined,
    };
    await prepareControlPlane(config, { dataDir, pkiDir, pki, endpoints, clock });
    if (encryptSecrets) await keepEncryption(pkiDir, config);
    if (audit) await ownFolder(directory).write(controlPlaneFiles(directory).auditPolicy, audit.policy, 0o600);
  }
  await noteBootstrapped(settings);
}

/** `nodes`: what makes nodes of them, where they are some. */
export async function bootControlPlanes(options: BootOptions, nodes: Machines | undefined): Promise<Instance[]> {
  await prepareControlPlanes(options);
  if (nodes) for (const { name, address } of options.machines.members) await nodes.prepareControlPlane(name, address);
  return options.machines.ensure();
}
