// Lets clients and health checks in to the nodes: a network load balancer passes on the addresses of clients, so nodes must admit these. Rules are
// known again by their description, which names the load balancer.
import type { Instance } from '@aws-sdk/client-ec2';
import { sameSet } from 'sagong/cloud-provider/kit';
import type { Cloud } from '../../cloud.ts';
import { clientRulePrefix, mtuRuleDescription, ruleDescriptions } from '../../naming.ts';
import { changeRules, clusterGroups, groupsById, type RuleChange } from '../../security-groups/groups.ts';
import { nodeGroups } from '../../security-groups/node-group.ts';
import { fromCidr, pathMtuRule, type Rule, rulesIn, without } from '../../security-groups/rules.ts';
import { trafficPort } from '../health-check.ts';
import type { PortMapping } from './plan.ts';

export interface Admission {
  mappings: readonly PortMapping[];
  /** From where clients may come. */
  clients: readonly string[];
  /** From where health checks come: the subnets of the load balancer. */
  subnets: readonly string[];
}

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)];

/** Rules for one load balancer. Health checks need none of their own where everybody may reach the very same ports. Pure. */
export function wantedRules(loadBalancer: string, { mappings, clients, subnets }: Admission): Rule[] {
  const descriptions = ruleDescriptions(loadBalancer);
  const clientPorts = unique(mappings.map(({ nodePort }) => nodePort));
  const healthPorts = unique(
    mappings.map(({ nodePort, health }) => (health.port === trafficPort ? nodePort : Number(health.port))),
  );
  const protocol = mappings.some(({ targetProtocol }) => targetProtocol === 'UDP') ? 'udp' : 'tcp';
  const open = clients.length === 1 && clients[0] === '0.0.0.0/0' && protocol === 'tcp' && sameSet(clientPorts, healthPorts);
  const rules = (ports: readonly number[], cidrs: readonly string[], ruleProtocol: string, description: string): Rule[] =>
    ports.flatMap((port) =>
      cidrs.map((cidr) => ({ protocol: ruleProtocol, from: port, to: port, source: fromCidr(cidr), description })),
    );
  return without(
    [
      ...rules(clientPorts, clients, protocol, descriptions.client),
      ...(open ? [] : rules(healthPorts, subnets, 'tcp', descriptions.health)),
    ],
    [],
  );
}

const cidrOf = ({ source }: Rule): string[] => ('cidr' in source ? [source.cidr] : []);

/**
 * What changes the rules of one group into those that it should have. A rule for path MTU discovery is there for the clients of all load balancers
 * together. Pure.
 */
export function groupChange(loadBalancer: string, present: readonly Rule[], wanted: readonly Rule[]): RuleChange {
  const descriptions: string[] = Object.values(ruleDescriptions(loadBalancer));
  const mine = present.filter(({ description = '' }) => descriptions.includes(description));
  const change = { add: without(wanted, present), remove: without(mine, wanted) };
  if (change.add.length + change.remove.length === 0) return change;
  const after = [...without(present, change.remove), ...change.add];
  const clients = after.filter(({ description }) => description?.includes(clientRulePrefix)).flatMap(cidrOf);
  const mtu = unique(clients).map((cidr) => pathMtuRule(cidr, mtuRuleDescription));
  const presentMtu = present.filter(({ description }) => description === mtuRuleDescription);
  return {
    add: [...change.add, ...without(mtu, present)],
    remove: [...change.remove, ...without(presentMtu, mtu)],
  };
}

/** The groups of these instances admit what is wanted, all other groups of the cluster nothing of this load balancer. */
export async function admitToNodes(
  cloud: Cloud,
  loadBalancer: string,
  instances: Iterable<Instance>,
  admission: Admission,
): Promise<void> {
  const { DisableSecurityGroupIngress, ElbSecurityGroup } = cloud.config.Global;
  if (DisableSecurityGroupIngress) return;
  await cloud.nodeRules(() => admit(cloud, loadBalancer, instances, admission, ElbSecurityGroup));
}

async function admit(
  cloud: Cloud,
  loadBalancer: string,
  instances: Iterable<Instance>,
  admission: Admission,
  untouched: string | undefined,
): Promise<void> {
  const groups = await clusterGroups(cloud);
  const open = nodeGroups(instances, (id) => groups.has(id));
  const untagged = await groupsById(
    cloud,
    [...open].filter((id) => !groups.has(id)),
  );
  const wanted = wantedRules(loadBalancer, admission);
  for (const { GroupId: id = '', IpPermissions } of [...groups.values(), ...untagged]) {
    if (id === untouched) continue;
    await changeRules(cloud, id, groupChange(loadBalancer, rulesIn(IpPermissions), open.has(id) ? wanted : []));
  }
}

export const nobody: Admission = { mappings: [], clients: [], subnets: [] };

/** Whether any group of the cluster still has a rule of this load balancer. */
export async function hasNodeRules(cloud: Cloud, loadBalancer: string): Promise<boolean> {
  if (cloud.config.Global.DisableSecurityGroupIngress) return false;
  const descriptions: string[] = Object.values(ruleDescriptions(loadBalancer));
  return [...(await clusterGroups(cloud)).values()].some(({ IpPermissions }) =>
    rulesIn(IpPermissions).some(({ description = '' }) => descriptions.includes(description)),
  );
}
