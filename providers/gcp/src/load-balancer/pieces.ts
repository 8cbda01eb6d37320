// What there is of a load balancer under its own name, and how all of it goes. The pieces of both kinds are looked at: a Service may have changed
// its kind while its load balancer was half made.
import type { Service } from 'sagong/cloud-provider';
import { fineIfAbsent, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import { isInUse } from '../api/errors.ts';
import type { ForwardingRule } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import {
  denyFirewall,
  externalHealthFirewall,
  internalHealthFirewall,
  nodesHealthCheck,
  sharedBackendPrefix,
  trafficFirewall,
} from '../names.ts';
import { releaseAddress } from './addresses.ts';
import { deleteFirewall } from './firewalls.ts';
import { deleteExternalCheck, deleteInternalCheck } from './health-checks.ts';
import { deleteUnusedGroups } from './instance-groups.ts';

export interface Owner {
  name: string;
  clusterId: string;
  service: Service;
}
export type Kind = 'external' | 'internal';

export const ruleOf = ({ resources }: Cloud, name: string): Promise<ForwardingRule | undefined> =>
  resources.forwardingRules.get(name).catch(undefinedIfAbsent);

export const kindOf = ({ loadBalancingScheme }: ForwardingRule): Kind =>
  loadBalancingScheme?.toUpperCase() === 'INTERNAL' ? 'internal' : 'external';

/** Questions for what only one kind has under its own name. */
const piecesOf = ({ resources }: Cloud, { name, clusterId }: Omit<Owner, 'service'>, kind: Kind): Promise<unknown>[] =>
  kind === 'internal'
    ? [
        resources.backendServices.get(name),
        resources.healthChecks.get(name),
        resources.firewalls.get(internalHealthFirewall(name)),
      ]
    : [
        resources.targetPools.get(name),
        resources.httpHealthChecks.get(name),
        resources.firewalls.get(externalHealthFirewall(name, clusterId)),
      ];

const anyOf = async (questions: readonly Promise<unknown>[]): Promise<boolean> =>
  (await Promise.all(questions.map((question) => question.catch(undefinedIfAbsent)))).some((piece) => piece !== undefined);

export const anyPieceOf = (cloud: Cloud, owner: Omit<Owner, 'service'>, kind: Kind): Promise<boolean> =>
  anyOf(piecesOf(cloud, owner, kind));

/** Whether anything is left under the load balancer's own name; what load balancers share does not count. */
export const anyPiece = (cloud: Cloud, owner: Omit<Owner, 'service'>): Promise<boolean> => {
  const { addresses, firewalls } = cloud.resources;
  const common = [addresses.get(owner.name), firewalls.get(trafficFirewall(owner.name)), firewalls.get(denyFirewall(owner.name))];
  return anyOf([...common, ...piecesOf(cloud, owner, 'external'), ...piecesOf(cloud, owner, 'internal')]);
};

/**
 * Names of the backend service: its own, and those that load balancers share. Which one it shared is not asked of the Service, which may say something else
 * by now: one that is in use is not deleted.
 */
async function backendServices({ resources }: Cloud, { name, clusterId }: Owner): Promise<string[]> {
  const prefix = sharedBackendPrefix(clusterId);
  const shared = await resources.backendServices.list(`name eq ${prefix}.*`);
  return [name, ...shared.map((one) => one.name ?? '').filter((one) => one.startsWith(prefix))];
}

async function deleteExternalPieces(cloud: Cloud, owner: Owner): Promise<void> {
  const { name, clusterId } = owner;
  await cloud.resources.targetPools.delete(name).catch(fineIfAbsent);
  await deleteExternalCheck(cloud, owner, { name, shared: false });
  await deleteExternalCheck(cloud, owner, { name: nodesHealthCheck(clusterId), shared: true });
}

async function deleteInternalPieces(cloud: Cloud, owner: Owner): Promise<void> {
  const { name, clusterId } = owner;
  for (const service of await backendServices(cloud, owner))
    await cloud.resources.backendServices
      .delete(service)
      .catch(fineIfAbsent)
      .catch((error: unknown) => {
        if (!isInUse(error)) throw error;
      });
  await deleteInternalCheck(cloud, owner, { name, shared: false });
  await deleteInternalCheck(cloud, owner, { name: nodesHealthCheck(clusterId), shared: true });
  await deleteUnusedGroups(cloud, clusterId);
}

/** Removes what only this kind has, and what its load balancers share once the last one has gone. Its forwarding rule must be gone. */
export const deleteKind = (cloud: Cloud, owner: Owner, kind: Kind): Promise<void> =>
  kind === 'internal' ? deleteInternalPieces(cloud, owner) : deleteExternalPieces(cloud, owner);

/** Removes the pieces of these kinds. The firewall rule under its own name goes last: until then the load balancer is seen to exist. */
export async function deletePieces(cloud: Cloud, owner: Owner, kinds: readonly Kind[]): Promise<void> {
  const { name, service } = owner;
  await cloud.resources.forwardingRules.delete(name).catch(fineIfAbsent);
  for (const kind of kinds) await deleteKind(cloud, owner, kind);
  await releaseAddress(cloud, name);
  await deleteFirewall(cloud, service, denyFirewall(name));
  await deleteFirewall(cloud, service, trafficFirewall(name));
}
