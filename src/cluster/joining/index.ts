// Lets machines join a cluster: publishes the way in, and keeps the loops that joined machines need beside those of the managers.
import { hostname } from 'node:os';
import { runLeaderElection } from '#client';
import type { ControllerDefinition } from '#controller-runtime';
import type { Clock, Logger, Rng } from '#utils';
import { applyObjects } from '../objects/apply.ts';
import type { PlaneAccess } from '../control-plane.ts';
import { startDnsAddon } from '../add-ons/dns-addon.ts';
import { grantClusterRole } from '../objects/grant.ts';
import { identities } from '../certificates/identities.ts';
import { runOwnLoop } from '../add-ons/own-loop.ts';
import { nodeCertificateApprover } from './approver.ts';
import { type JoiningFacts, joiningObjects } from './objects.ts';
import { nodePolicyRights } from './policy-rights.ts';

export { createToken, deleteToken, listTokens, tokenColumns } from './tokens.ts';
export { parseToken } from './token-text.ts';
export { newCertificateKey, parseCertificateKey, uploadCertificates } from './certificates.ts';

interface Deps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

interface Stopping {
  stop(): Promise<void>;
}

/** What anybody must find who joins. */
export async function publishJoining(plane: PlaneAccess, facts: JoiningFacts): Promise<void> {
  const admin = plane.client(identities.admin, 'sagong');
  try {
    await applyObjects(admin, joiningObjects(facts));
  } finally {
    admin.close();
  }
}

/** The approval of nodes' certificates, the rights of what guards their pods, and the endpoints of cluster DNS. */
async function startLoops(plane: PlaneAccess, deps: Deps): Promise<Stopping> {
  const admin = plane.client(identities.admin, 'sagong');
  const started: Stopping[] = [];
  for (const loop of [nodeCertificateApprover, nodePolicyRights]) {
    const { name, rights } = loop;
    await grantClusterRole(admin, { role: `system:controller:${name}`, serviceAccount: name, rules: rights });
    started.push(await runOwnLoop(plane, name, loop as ControllerDefinition, deps));
  }
  started.push(await startDnsAddon(plane, deps));
  return {
    async stop() {
      for (const loop of started.reverse()) await loop.stop();
      admin.close();
    },
  };
}

/** `alone`: nobody else runs these loops; else the control planes elect who does. */
export async function startJoiningLoops(plane: PlaneAccess, deps: Deps, alone: boolean): Promise<Stopping> {
  if (alone) return startLoops(plane, deps);
  const { clock, logger } = deps;
  const over = new AbortController();
  const client = plane.client(identities.admin, 'sagong');
  const term = async (signal: AbortSignal): Promise<void> => {
    const loops = await startLoops(plane, deps);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await loops.stop();
  };
  const electing = async (): Promise<void> => {
    while (!over.signal.aborted)
      await runLeaderElection(
        {
          ...deps,
          client,
          namespace: 'kube-system',
          name: 'sagong-joining',
          identity: `${hostname()}_${process.pid}`,
          onStartedLeading: (signal) => term(signal),
          onStoppedLeading: () => logger.info('another control plane approves the certificates of nodes'),
        },
        over.signal,
      ).catch((error: unknown) => {
        logger.error('the election of who approves certificates of nodes failed', { err: error });
        return clock.sleep(electionPauseMs, over.signal).catch(() => {});
      });
  };
  const elected = electing();
  return {
    async stop() {
      over.abort();
      await elected;
      client.close();
    },
  };
}

const electionPauseMs = 2_000;
