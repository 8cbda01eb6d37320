// The machine-level network of a cluster: one namespace with a bridge, one namespace a node, a veth pair between them. Made in one
// `ip -batch` per namespace; found again and removed by name.
import type { Exec } from '#utils';
import { must } from './commands.ts';
import { lan, type NetworkPlan, type NodePlan } from './plan.ts';
import { removeUplink } from './uplink.ts';

const batch = (exec: Exec, netns: string | undefined, lines: readonly string[]): Promise<string> =>
  must(exec, 'ip', [...(netns ? ['-n', netns] : []), '-batch', '-'], `${lines.join('\n')}\n`);

/** Kernel settings of a node's namespace; kube-proxy and the bridge CNI plugin need them (bridged frames must pass iptables). */
const nodeSysctls = {
  'net/ipv4/ip_forward': '1',
  'net/bridge/bridge-nf-call-iptables': '1',
  'net/ipv4/conf/all/route_localnet': '1',
};

/** Makes lan and nodes. The namespaces must not exist yet (see `removeNetwork`). */
export async function createNetwork(exec: Exec, plan: NetworkPlan): Promise<void> {
  const namespaces = [plan.lanNetns, ...plan.nodes.map(({ netns }) => netns)];
  await batch(
    exec,
    undefined,
    namespaces.map((name) => `netns add ${name}`),
  );
  await batch(exec, plan.lanNetns, [
    'link set lo up',
    `link add ${lan.bridge} type bridge forward_delay 0`,
    `addr add ${lan.gateway}/${lan.prefixLength} dev ${lan.bridge}`,
    `link set ${lan.bridge} up`,
    ...plan.nodes.flatMap(({ link, netns }) => [
      `link add ${link} type veth peer name eth0 netns ${netns}`,
      `link set ${link} master ${lan.bridge}`,
      `link set ${link} up`,
    ]),
  ]);
  await Promise.all(plan.nodes.map((node) => configureNode(exec, node)));
  await must(exec, 'nsenter', [`--net=/run/netns/${plan.lanNetns}`, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward']);
}

async function configureNode(exec: Exec, node: NodePlan): Promise<void> {
  await batch(exec, node.netns, [
    'link set lo up',
    `addr add ${node.address}/${lan.prefixLength} dev eth0`,
    'link set eth0 up',
    `route add default via ${lan.gateway}`,
  ]);
  const writes = Object.entries(nodeSysctls).map(
    ([key, value]) => `[ ! -e /proc/sys/${key} ] || echo ${value} > /proc/sys/${key}`,
  );
  await must(exec, 'nsenter', [`--net=/run/netns/${node.netns}`, 'sh', '-c', writes.join('; ')]);
}

/** Routes to the pods of a node, on the lan and on every other node. Replaces what was there. */
export async function routePods(exec: Exec, plan: NetworkPlan, podCidrs: ReadonlyMap<string, string>): Promise<void> {
  const known = plan.nodes.filter((node) => podCidrs.has(node.name));
  const routesFor = (self: NodePlan | undefined): string[] =>
    known.filter((node) => node !== self).map((node) => `route replace ${podCidrs.get(node.name)} via ${node.address}`);
  await Promise.all([
    batch(exec, plan.lanNetns, routesFor(undefined)),
    ...plan.nodes.map((node) => batch(exec, node.netns, routesFor(node))),
  ]);
}

/** Names of the namespaces that carry the cluster's mark, also of nodes that are no longer planned. */
export async function networkNamespacesOf(exec: Exec, id: string): Promise<string[]> {
  const listed = await exec('ip', ['netns', 'list'], { timeoutMs: 20_000 });
  return listed.stdout
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
    .filter((name) => name.startsWith(`sagong-${id}-`));
}

/** Removes the uplink and every namespace of the cluster. Links go with their namespaces. */
export async function removeNetwork(exec: Exec, id: string): Promise<void> {
  await removeUplink(exec, id);
  for (const name of await networkNamespacesOf(exec, id)) await must(exec, 'ip', ['netns', 'del', name]);
}
