// Load balancers of Services: which kind, whose, and what goes before and after.
import {
  defaultLoadBalancerName,
  implementedElsewhere,
  isImplementedElsewhere,
  type LoadBalancer,
  type Node,
  type Service,
} from 'sagong/cloud-provider';
import { during, fineIfAbsent, isAbsent } from 'sagong/cloud-provider/kit';
import { isInternal } from '../annotations.ts';
import type { ForwardingRule } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { externalFinalizer, internalFinalizer } from '../names.ts';
import { ensureExternal, updateExternal } from './external.ts';
import { ensureInternal, updateInternal } from './internal.ts';
import { isOurs } from './ownership.ts';
import { anyPiece, anyPieceOf, deleteKind, deletePieces, type Kind, kindOf, type Owner, ruleOf } from './pieces.ts';
import { externalPlan, internalPlan } from './plan.ts';
import { noteResources, refuseMixedProtocols, warnOfContradiction } from './service-notes.ts';

const finalizers: Readonly<Record<Kind, string>> = { external: externalFinalizer, internal: internalFinalizer };
const kinds: readonly Kind[] = ['external', 'internal'];
const hasFinalizer = ({ metadata }: Service, finalizer: string): boolean => metadata.finalizers?.includes(finalizer) ?? false;
const kindWanted = (service: Service): Kind => (isInternal(service) ? 'internal' : 'external');
const otherKind = (kind: Kind): Kind => (kind === 'internal' ? 'external' : 'internal');

const mustBeOurs = ({ flags, settings }: Cloud, service: Service, rule?: ForwardingRule): void => {
  const options = { rbsByDefault: flags.rbsByDefault, ilbSubsets: settings.alphaFeatures.includes('ILBSubsets') };
  if (!isOurs(service, rule, options)) throw implementedElsewhere();
};

/** Names the load balancer in a failure. After an instance went between two calls, its like are asked for again next time. */
const failed =
  ({ hosts }: Cloud, service: Service) =>
  (error: unknown): never => {
    if (isImplementedElsewhere(error)) throw error;
    if (isAbsent(error)) hosts.forget();
    return during(`load balancer ${defaultLoadBalancerName(service)}`)(error);
  };

/** What there is of the other kind goes first. Its finalizer stays until all of it is gone, so that a failure here is not forgotten. */
async function deleteOtherKind(cloud: Cloud, owner: Owner, rule: ForwardingRule | undefined): Promise<void> {
  const other = otherKind(kindWanted(owner.service));
  const marked = hasFinalizer(owner.service, finalizers[other]);
  if (rule && kindOf(rule) !== other && !marked) return;
  if (!rule && !marked && !(await anyPieceOf(cloud, owner, other))) return;
  if (rule && kindOf(rule) === other) await cloud.resources.forwardingRules.delete(owner.name).catch(fineIfAbsent);
  await deleteKind(cloud, owner, other);
  await cloud.writer.removeFinalizer(owner.service, finalizers[other]);
}

async function ensure(cloud: Cloud, service: Service, nodes: readonly Node[]) {
  const name = defaultLoadBalancerName(service);
  const clusterId = await cloud.clusterId();
  const found = await ruleOf(cloud, name);
  mustBeOurs(cloud, service, found);
  await refuseMixedProtocols(cloud, service, false);
  const kind = kindWanted(service);
  const plan = kind === 'internal' ? internalPlan(service, clusterId) : externalPlan(service, clusterId);
  await warnOfContradiction(cloud, service);
  await cloud.writer.addFinalizer(service, finalizers[kind]);
  await deleteOtherKind(cloud, { name, clusterId, service }, found);
  const rule = found && kindOf(found) === kind ? found : undefined;
  if ('tier' in plan) {
    const status = await ensureExternal(cloud, plan, rule, await cloud.hosts.ofNodes(nodes, cloud.signal));
    await noteResources(cloud, service, { targetPool: plan.name });
    return status;
  }
  const status = await ensureInternal(cloud, plan, rule, nodes);
  await noteResources(cloud, service, { backendService: plan.backendService });
  return status;
}

async function update(cloud: Cloud, service: Service, nodes: readonly Node[]): Promise<void> {
  mustBeOurs(cloud, service);
  await refuseMixedProtocols(cloud, service, true);
  if (isInternal(service)) return updateInternal(cloud, internalPlan(service, await cloud.clusterId()), nodes);
  await updateExternal(cloud, externalPlan(service, await cloud.clusterId()), nodes);
}

async function remove(cloud: Cloud, service: Service): Promise<void> {
  const name = defaultLoadBalancerName(service);
  const rule = await ruleOf(cloud, name);
  mustBeOurs(cloud, service, rule);
  const owner = { name, clusterId: await cloud.clusterId(), service };
  const marked = kinds.filter((kind) => hasFinalizer(service, finalizers[kind]));
  const known = [...marked, ...(rule ? [kindOf(rule)] : [])];
  // Without a rule and a finalizer there may be pieces of either kind.
  if (known.length > 0) await deletePieces(cloud, owner, [...new Set(known)]);
  else if (await anyPiece(cloud, owner)) await deletePieces(cloud, owner, kinds);
  for (const finalizer of Object.values(finalizers)) await cloud.writer.removeFinalizer(service, finalizer);
}

/** `open`: what the parts of the provider work with in one call, bound to the caller's signal. */
export const createLoadBalancers = (open: (signal?: AbortSignal) => Cloud): LoadBalancer => ({
  async getLoadBalancer(_cluster, service, signal) {
    const cloud = open(signal);
    const name = defaultLoadBalancerName(service);
    const rule = await ruleOf(cloud, name);
    if (rule) return { ingress: [{ ip: rule.IPAddress ?? '' }] };
    const held = kinds.some((kind) => hasFinalizer(service, finalizers[kind]));
    if (held || (await anyPiece(cloud, { name, clusterId: await cloud.clusterId() }))) return {};
    return undefined;
  },
  getLoadBalancerName: (_cluster, service) => defaultLoadBalancerName(service),
  async ensureLoadBalancer(_cluster, service, nodes, signal) {
    const cloud = open(signal);
    return cloud
      .turn(`service ${service.metadata.uid}`, () => ensure(cloud, service, nodes), signal)
      .catch(failed(cloud, service));
  },
  async updateLoadBalancer(_cluster, service, nodes, signal) {
    const cloud = open(signal);
    await cloud
      .turn(`service ${service.metadata.uid}`, () => update(cloud, service, nodes), signal)
      .catch(failed(cloud, service));
  },
  async ensureLoadBalancerDeleted(_cluster, service, signal) {
    const cloud = open(signal);
    await cloud.turn(`service ${service.metadata.uid}`, () => remove(cloud, service), signal).catch(failed(cloud, service));
  },
});
