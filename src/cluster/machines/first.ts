// The first machine of a cluster of machines (`sagong up --advertise-address`): serves the control plane where others reach it, publishes how to join, and
// becomes a node itself by the same way as every other.
import type { Clock, Logger, Rng } from '#utils';
import type { ClusterPki } from '../certificates.ts';
import type { ControlPlane } from '../control-plane.ts';
import { startDnsAddon } from '../dns-addon.ts';
import { networkPolicyGrant } from '../cloud/node-choices.ts';
import { grantClusterRole } from '../grant.ts';
import { identities } from '../identities.ts';
import { createToken, startJoining } from '../joining/index.ts';
import type { Progress } from '../progress.ts';
import { type ClusterSettings, clusterNetworks, type MachineChoice } from '../settings.ts';
import { ownMachineDir } from './choice.ts';
import { authorityHashes } from './discovery.ts';
import { join as joinMachine } from './join.ts';
import { ownTokenTtlMs } from './limits.ts';

export interface FirstMachineOptions {
  settings: ClusterSettings;
  machine: MachineChoice;
  plane: ControlPlane;
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

/** Resolves when machines can join, and this one has, if it is to. */
export async function startFirstMachine(options: FirstMachineOptions, deps: Deps): Promise<void> {
  const { settings, machine, plane, pki, program } = options;
  const { registryMirrors = [] } = settings;
  const { advertiseAddress: host, node } = machine;
  const port = Number(new URL(plane.apiserver.url).port);
  const endpoint = `${host}:${port}`;
  await plane.serveOn({ host, port });
  const facts = {
    cluster: settings.name,
    endpoint,
    ca: pki.authority.cert,
    podCidr: settings.podCidr ?? clusterNetworks.podCidr,
  };
  await grantClusterRole(plane.client(identities.admin, 'sagong'), networkPolicyGrant);
  const joining = await startJoining(plane, facts, deps);
  deps.undo.push(() => joining.stop());
  const dns = await startDnsAddon(plane, deps);
  deps.undo.push(() => dns.stop());
  if (!node) return;
  await deps.progress.step('this machine as a node', async () => {
    const dir = ownMachineDir(settings.dataDir);
    const admin = plane.client(identities.admin, 'sagong');
    const description = 'The node of the first machine.';
    const token = await createToken(admin, { ttlMs: ownTokenTtlMs, description }, deps.clock);
    const hashes = authorityHashes(pki.authority.cert);
    const joined = await joinMachine(
      { dir, endpoint, token, hashes, nodeIp: host, registryMirrors, program },
      { ...deps, logger: deps.logger.with({ component: 'machine' }) },
    );
    deps.undo.push(() => joined.stop());
  });
}
