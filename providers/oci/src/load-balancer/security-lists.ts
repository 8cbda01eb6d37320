// Keeps security lists in line with load balancers. A list is read, changed and written under its ETag; who writes in between makes it begin again.
import type { Node } from 'sagong/cloud-provider';
import { isConflict, loadBalancerServices, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import { byAge } from '../api/balancer-api.ts';
import type { Balancer, BalancerKind, SecurityList, Subnet } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { securityListTriesMax } from '../limits.ts';
import { listRuleMark } from '../names.ts';
import { ipv4BlocksOf, ipv6BlocksOf } from '../subnets.ts';
import { compartmentOf } from './plan.ts';
import type { Family } from './ports.ts';
import { concerns, type ListWish, type Network, rewritten, type RuleWish, type UsedPorts, wishesOf } from './security-rules.ts';

const nothing: ListWish = { ingress: [], egress: [] };

/** The list of a subnet that is written to: the configured one, or the oldest. */
async function listOf({ core, settings }: Cloud, { id, securityListIds = [] }: Subnet): Promise<string> {
  const configured = settings.loadBalancer?.securityLists[id];
  if (configured && securityListIds.includes(configured)) return configured;
  if (securityListIds.length === 0) throw new Error(`no security lists in subnet ${id}`);
  if (securityListIds.length === 1) return securityListIds[0] ?? '';
  const lists = await Promise.all(securityListIds.map((one) => core.securityList(one)));
  return lists.toSorted(byAge)[0]?.id ?? '';
}

const networksOf = (cloud: Cloud, subnets: readonly Subnet[], families: readonly Family[]): Promise<Network[]> =>
  Promise.all(
    subnets.map(async (subnet) => ({
      listId: await listOf(cloud, subnet),
      cidrs: [
        ...(families.includes('IPv4') ? ipv4BlocksOf(subnet) : []),
        ...(families.includes('IPv6') ? ipv6BlocksOf(subnet) : []),
      ],
    })),
  );

type Ports = Pick<Balancer, 'listeners' | 'backendSets'>;
export const portsOfBalancer = ({ listeners, backendSets }: Ports): UsedPorts => ({
  listeners: Object.values(listeners).map(({ port }) => port),
  backends: Object.values(backendSets).flatMap(({ backends = [] }) => backends.map(({ port }) => port)),
  health: Object.values(backendSets).map(({ healthChecker }) => healthChecker.port),
});

export const allPorts = ({ listeners, backends, health }: UsedPorts): Set<number> =>
  new Set([...listeners, ...backends, ...health]);

const balancersIn = async (cloud: Cloud, kind: BalancerKind, compartment: string): Promise<Balancer[]> =>
  (await cloud.balancers(kind).list(compartment).catch(undefinedIfAbsent)) ?? [];

/** Ports of load balancers in these subnets whose rules no Service of this manager claims: nobody here knows which rules those need. */
async function unclaimedPorts(cloud: Cloud, owner: Owner, subnetIds: readonly string[]): Promise<Set<number>> {
  const ports = new Set<number>();
  const others = (await loadBalancerServices(cloud.client())).map((service) => compartmentOf(service, cloud.settings));
  const compartments = new Set([owner.compartment, cloud.settings.compartment, ...others]);
  for (const kind of ['lb', 'nlb'] as const satisfies BalancerKind[])
    for (const one of (await Promise.all([...compartments].map((id) => balancersIn(cloud, kind, id)))).flat()) {
      const isKnown = owner.names.includes(one.displayName) || cloud.claims.isClaimed(one.displayName);
      const isOther = !isKnown && one.lifecycleState !== 'DELETING';
      if (isOther && one.subnetIds.some((id) => subnetIds.includes(id)))
        for (const port of allPorts(portsOfBalancer(one))) ports.add(port);
    }
  return ports;
}

export interface Owner {
  uid: string;
  /** The names of its load balancers of either kind. */
  names: readonly string[];
  compartment: string;
  cluster: string;
}

interface Work {
  owner: Owner;
  wish: ListWish;
  /** Ports now and before. */
  ports: ReadonlySet<number>;
  /** The subnets of the load balancer. */
  subnetIds: readonly string[];
}

async function rewriteOnce(cloud: Cloud, listId: string, { owner, wish, ports, subnetIds }: Work): Promise<void> {
  const list = await cloud.core.securityList(listId);
  const mark = listRuleMark(owner.cluster);
  // Others are asked for only where something would go.
  const isClaimed = (side: keyof ListWish, rule: RuleWish): boolean => cloud.claims.wishes(owner.uid, listId, side, rule);
  const options = { mark, wish, ports, isClaimed };
  const unasked = rewritten(list, { ...options, used: new Set() });
  if (!unasked) return;
  const { ingressSecurityRules: ingress, egressSecurityRules: egress } = unasked;
  const removes = [
    ...list.ingressSecurityRules.filter((rule) => !ingress.includes(rule)),
    ...list.egressSecurityRules.filter((rule) => !egress.includes(rule)),
  ];
  const used = removes.length > 0 ? await unclaimedPorts(cloud, owner, subnetIds) : new Set<number>();
  const wanted = rewritten(list, { ...options, used });
  if (wanted) await cloud.core.writeSecurityList(wanted);
}

const rewrite = (cloud: Cloud, listId: string, work: Work): Promise<void> =>
  cloud.turn(
    `security list ${listId}`,
    async () => {
      for (let tries = 1; ; tries++)
        try {
          return await rewriteOnce(cloud, listId, work);
        } catch (error) {
          if (!isConflict(error) || tries >= securityListTriesMax) throw error;
        }
    },
    cloud.signal,
  );

/** Lists in which something of the cluster for these ports is left, wherever the nodes were. */
async function concernedLists(cloud: Cloud, subnets: readonly Subnet[], work: Pick<Work, 'owner' | 'ports'>): Promise<string[]> {
  const places = new Map(subnets.map(({ compartmentId, vcnId }) => [`${compartmentId} ${vcnId}`, { compartmentId, vcnId }]));
  const { compartment, vcn } = cloud.settings;
  for (const vcnId of new Set([...subnets.map((one) => one.vcnId), vcn].filter((id) => id !== '')))
    places.set(`${compartment} ${vcnId}`, { compartmentId: compartment, vcnId });
  const found: SecurityList[] = [];
  for (const { compartmentId, vcnId } of places.values()) found.push(...(await cloud.core.securityLists(compartmentId, vcnId)));
  const mark = listRuleMark(work.owner.cluster);
  return found.filter((list) => concerns(list, mark, work.ports)).map(({ id }) => id);
}

export interface EnsureRules {
  owner: Owner;
  mode: 'All' | 'Frontend';
  sourceRanges: readonly string[];
  preservesSource: boolean;
  families: readonly Family[];
  subnetIds: readonly string[];
  nodes: readonly Node[];
  ports: UsedPorts;
  /** The load balancer as it was, and others that the Service had. */
  before: readonly Balancer[];
}

/** Adds what is missing, and removes what the Service does not need any more. */
export async function ensureListRules(cloud: Cloud, options: EnsureRules): Promise<void> {
  const { owner, families, subnetIds, nodes, ports, before, mode } = options;
  const subnets = await cloud.subnets.all(subnetIds, cloud.signal);
  const nodeSubnets = mode === 'All' ? await cloud.finder.subnetsOf(nodes, cloud.signal) : [];
  const [balancers, behind] = [await networksOf(cloud, subnets, families), await networksOf(cloud, nodeSubnets, families)];
  const wishes = wishesOf({ ...options, balancers, nodes: behind });
  const portsBefore = [...cloud.claims.ports(owner.uid), ...before.flatMap((one) => [...allPorts(portsOfBalancer(one))])];
  cloud.claims.set(owner.uid, { names: owner.names, wishes });
  const touched = new Set([...allPorts(ports), ...portsBefore]);
  const gone = new Set(portsBefore.filter((port) => !allPorts(ports).has(port)));
  const elsewhere = before.flatMap((one) => one.subnetIds).filter((id) => !subnetIds.includes(id));
  // Of a Service that had its rules behind as well, those are wherever its nodes were; of one that was in other subnets, there.
  const swept = mode === 'Frontend' || elsewhere.length > 0 ? touched : gone;
  const lists = swept.size > 0 ? await concernedLists(cloud, subnets, { owner, ports: swept }) : [];
  const work = (wish: ListWish, of: ReadonlySet<number>): Work => ({
    owner,
    wish,
    ports: of,
    subnetIds: [...subnetIds, ...elsewhere],
  });
  for (const [listId, wish] of wishes) await rewrite(cloud, listId, work(wish, touched));
  for (const listId of lists) if (!wishes.has(listId)) await rewrite(cloud, listId, work(nothing, swept));
  cloud.claims.settled(owner.uid);
}

/** Removes all that no other load balancer needs. `shown`: ports of its load balancers and of the Service. */
export async function removeListRules(
  cloud: Cloud,
  owner: Owner,
  subnetIds: readonly string[],
  shown: ReadonlySet<number>,
): Promise<void> {
  const ports = new Set([...shown, ...cloud.claims.ports(owner.uid)]);
  cloud.claims.release(owner.uid);
  const subnets = (await Promise.all(subnetIds.map((id) => cloud.subnets.get(id, cloud.signal).catch(undefinedIfAbsent)))).filter(
    (one) => one !== undefined,
  );
  for (const listId of await concernedLists(cloud, subnets, { owner, ports }))
    await rewrite(cloud, listId, { owner, wish: nothing, ports, subnetIds });
  cloud.claims.delete(owner.uid);
}
