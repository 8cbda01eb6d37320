// The first machine of a cluster of machines (`sagong up --advertise-address`): serves the control plane where others reach it, publishes how to join, and
// becomes a node itself by the same way as every other.
import type { Supervisor } from '#component-base';
import type { Clock, Logger, Rng } from '#utils';
import { upDefaults } from '../flags/index.ts';
import { type ClusterPki, kubeletTrust } from '../certificates/certificates.ts';
import type { ControlPlane, PlaneAccess } from '../control-plane.ts';
import { networkPolicyGrant } from '../cloud/node-choices.ts';
import { planeArgs } from '../control-planes/args.ts';
import { controlPlanePorts } from '../control-planes/names.ts';
import { applyClusterRole } from '../objects/grant.ts';
import { identities } from '../certificates/identities.ts';
import { createToken, publishJoining, startJoiningLoops } from '../joining/index.ts';
import { assertPortsFree } from '../port-holder.ts';
import type { Progress } from '../terminal/progress.ts';
import { keepRenewing } from '../renewal/renewal.ts';
import type { ClusterSettings, MachineChoice } from '../state/settings.ts';
import { clusterNetworks } from '../state/networks.ts';
import { endpointOfMachine, ownMachineDir } from './choice.ts';
import { authorityHashes } from './cluster-info.ts';
import { join as joinMachine } from './join.ts';
import { markControlPlane } from './labels.ts';
import { ownTokenTtlMs } from './limits.ts';
import { controlPlaneNamed } from './own-plane.ts';

export interface FirstMachineOptions {
  settings: ClusterSettings;
  machine: MachineChoice;
  plane: PlaneAccess;
  /** The same, where it is in this process. */
  own: ControlPlane | undefined;
  pki: ClusterPki;
  /** How to run this program. */
  program: readonly string[];
}

interface Deps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  progress: Progress;
  undo: (() => Promise<void> | void)[];
  signal?: AbortSignal;
}

/** The control plane on etcd, of which other machines can be a part; what was in a store of its own is moved there first. */
export async function startFirstPlane(
  settings: ClusterSettings,
  program: readonly string[],
  deps: Deps & { supervisor: Supervisor },
): Promise<PlaneAccess> {
  const { firstPlaneOptions, moveToOwnEtcd, startMachinePlane } = await import('./control-plane.ts');
  const options = firstPlaneOptions(settings, program);
  if ((await controlPlaneNamed(settings.dataDir, options.name)) === undefined)
    await assertPortsFree(controlPlanePorts, 'a control plane');
  return deps.progress.step('control plane of this machine, on etcd', async () => {
    const moved = await moveToOwnEtcd(options, deps);
    if (moved !== undefined) deps.progress.say(`   ${moved} keys were moved from the cluster's own store to etcd`);
    const { plane, stop } = await startMachinePlane(options, deps);
    deps.undo.push(stop);
    deps.undo.push(keepRenewing(settings.dataDir, undefined, deps));
    return plane;
  });
}

/** Resolves when machines can join, and this one has, if it is to. */
export async function startFirstMachine(options: FirstMachineOptions, deps: Deps): Promise<void> {
  const { settings, machine, plane, own, pki, program } = options;
  const { registryMirrors = [], name: cluster, podCidr = clusterNetworks.podCidr } = settings;
  const { proxyMode = upDefaults.proxyMode, networkPolicy = upDefaults.networkPolicy } = settings;
  const { advertiseAddress: host, node, controlPlane } = machine;
  const { port } = settings;
  await own?.serveOn({ host, port });
  const growing = controlPlane !== undefined;
  const args = growing ? planeArgs(settings) : (settings.componentArgs ?? {});
  const endpoint = endpointOfMachine(machine, port);
  const ca = pki.authority.cert;
  const admin = plane.client(identities.admin, 'sagong');
  deps.undo.push(() => admin.close());
  await applyClusterRole(admin, networkPolicyGrant(networkPolicy));
  await publishJoining(plane, {
    ...{ cluster, endpoint, ca, podCidr, growing, proxyMode, networkPolicy, args },
    kubeletTrust: kubeletTrust(pki),
  });
  const loops = await startJoiningLoops(plane, deps, !growing);
  deps.undo.push(() => loops.stop());
  if (!node) return;
  await deps.progress.step('this machine as a node', async () => {
    const dir = ownMachineDir(settings.dataDir);
    const description = 'The node of the first machine.';
    const token = await createToken(admin, { ttlMs: ownTokenTtlMs, description }, deps.clock);
    const hashes = authorityHashes(ca);
    const joined = await joinMachine(
      {
        dir,
        endpoint: `${host}:${port}`,
        serveBy: `https://${host}:${port}`,
        token,
        hashes,
        nodeIp: host,
        registryMirrors,
        program,
      },
      { ...deps, logger: deps.logger.with({ component: 'machine' }) },
    );
    deps.undo.push(() => joined.stop());
    if (growing) await markControlPlane(admin, joined.settings.nodeName);
  });
}
