// Routes to the pods of each Node: rules of the VPC's route table that lead to its instance (cloud-provider-baiducloud routes.go).
import type { Node, Route, Routes } from 'sagong/cloud-provider';
import { type BaiduApi, baiduApi } from '../api/baidu.ts';
import type { ApiClient } from '../api/client.ts';
import { isQuota, isThere } from '../api/errors.ts';
import type { RouteRule } from '../api/types.ts';
import type { Finder } from '../instances/finder.ts';
import { clusterMark, makerOf } from '../names.ts';
import type { KnownNodes } from './known-nodes.ts';
import { type NodeNotesDeps, noteRoute, wantsRoute } from './node-notes.ts';

export interface RoutesDeps extends NodeNotesDeps {
  client: ApiClient;
  clusterId: string;
  finder: Finder;
  nodes: KnownNodes;
}

/** The next hop is an instance. */
const toInstance = 'custom';
const isIpv6 = (cidr: string): boolean => cidr.includes(':');
const anywhereOf = (cidr: string): string => (isIpv6(cidr) ? '::/0' : '0.0.0.0/0');
const nodeNamed = (name: string): Node => ({ metadata: { name } });

/** The rules that take the traffic to a range, wherever it comes from. */
async function rulesFor(api: BaiduApi, { finder }: RoutesDeps, cidr: string, signal?: AbortSignal) {
  const table = await api.routeTable(await finder.vpcId(signal));
  const source = anywhereOf(cidr);
  const rules = table.routeRules.filter((one) => one.destinationAddress === cidr && one.sourceAddress === source);
  return { table, rules };
}

const isOurs = ({ nexthopType, description }: RouteRule, clusterId: string): boolean =>
  nexthopType === toInstance && makerOf({ desc: description }) === clusterId;

/** The rule that leads to the instance, made where there is none, in the place of one of this cluster that leads elsewhere. */
async function make(api: BaiduApi, deps: RoutesDeps, cidr: string, instance: string, signal?: AbortSignal): Promise<RouteRule> {
  const { table, rules } = await rulesFor(api, deps, cidr, signal);
  const { routeTableId, routeRules } = table;
  for (const rule of rules) {
    if (rule.nexthopId === instance) return rule;
    if (!isOurs(rule, deps.clusterId))
      throw new Error(`route table ${routeTableId} has a rule to ${cidr} that is not this cluster's: ${rule.routeRuleId}`);
    await api.deleteRoute(rule.routeRuleId);
  }
  const request = {
    routeTableId,
    sourceAddress: anywhereOf(cidr),
    destinationAddress: cidr,
    nexthopId: instance,
    nexthopType: toInstance,
    description: clusterMark(deps.clusterId),
    ...(isIpv6(cidr) && { ipVersion: '6' as const }),
  };
  try {
    return { ...request, ...(await api.createRoute(request)) };
  } catch (error) {
    if (isQuota(error))
      throw new Error(`route table ${routeTableId} of the VPC is full (${routeRules.length} rules)`, { cause: error });
    // A lost answer, or another manager: it may be there, as it is wanted.
    const now = isThere(error) ? (await rulesFor(api, deps, cidr, signal)).rules : [];
    const there = now.find((one) => one.nexthopId === instance);
    if (there) return there;
    throw error;
  }
}

export function createRoutes(deps: RoutesDeps): Routes {
  const { client, clusterId, finder, nodes } = deps;
  /** The name of the Node of an instance; undefined when the instance is gone, which the list of a moment ago does not say for sure. */
  async function nodeNameOf(api: BaiduApi, instance: string, signal?: AbortSignal): Promise<string | undefined> {
    const listed = (await finder.all(signal)).find(({ id }) => id === instance) ?? (await api.instance(instance));
    return listed && (nodes.nameOf(instance) ?? (listed.hostname || listed.name));
  }
  return {
    async listRoutes(_cluster, signal) {
      const api = baiduApi(client, signal);
      const { routeRules } = await api.routeTable(await finder.vpcId(signal));
      const routes: Route[] = [];
      for (const { routeRuleId: name, destinationAddress: destinationCidr, nexthopId } of routeRules.filter((rule) =>
        isOurs(rule, clusterId),
      )) {
        const found = await nodeNameOf(api, nexthopId, signal);
        const targetNode = found ?? nodes.nameOf(nexthopId) ?? '';
        const blackhole = found === undefined || !wantsRoute(nodes.get(targetNode));
        routes.push({ name, targetNode, targetNodeAddresses: [], destinationCidr, ...(blackhole && { blackhole }) });
      }
      return routes;
    },
    async createRoute(_cluster, _nameHint, { targetNode, destinationCidr }, signal) {
      const node = nodes.get(targetNode);
      if (!wantsRoute(node)) return;
      const instance = await finder.ofNode(node ?? nodeNamed(targetNode), signal);
      if (!instance) throw new Error(`InstanceId not found for k8s node ${targetNode}, create route failed`);
      const rule = await make(baiduApi(client, signal), deps, destinationCidr, instance.id, signal);
      await noteRoute(deps, targetNode, node, { ...rule, vpcId: await finder.vpcId(signal) });
    },
    deleteRoute: (_cluster, { name }, signal) => baiduApi(client, signal).deleteRoute(name),
  };
}
