// Lets machines join a cluster: publishes the way in, and approves the certificates of who came.
import type { Clock, Logger, Rng } from '#utils';
import { applyObjects } from '../apply.ts';
import type { ControlPlane } from '../control-plane.ts';
import { grantClusterRole } from '../grant.ts';
import { identities } from '../identities.ts';
import { runOwnLoop } from '../own-loop.ts';
import { nodeCertificateApprover } from './approver.ts';
import { type JoiningFacts, joiningObjects } from './objects.ts';

export { createToken, deleteToken, listTokens, parseToken, tokenColumns } from './tokens.ts';

/** Gives what ends it. */
export async function startJoining(
  plane: ControlPlane,
  facts: JoiningFacts,
  deps: { clock: Clock; rng: Rng; logger: Logger },
): Promise<{ stop(): Promise<void> }> {
  const admin = plane.client(identities.admin, 'sagong');
  const { name, rights } = nodeCertificateApprover;
  await grantClusterRole(admin, { role: `system:controller:${name}`, serviceAccount: name, rules: rights });
  await applyObjects(admin, joiningObjects(facts));
  return runOwnLoop(plane, name, nodeCertificateApprover, deps);
}
