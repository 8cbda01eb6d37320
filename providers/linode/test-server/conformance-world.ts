// What the conformance suite needs of a cloud, by the test server: machines, and a look at NodeBalancers past the provider.
import type { CloudProvider, Service } from 'sagong/cloud-provider';
import { type ConformanceWorld, persistent, withAnnotations } from 'sagong/cloud-provider/conformance';
import { everyFifth } from 'sagong/cloud-provider/test-server';
import { annotation, prefix } from '../src/annotations.ts';
import { balancerLabel, serviceTag } from '../src/names.ts';
import { Configs } from '../src/emulator/configs.ts';
import { region, type TestServer } from './index.ts';
import { openWorld } from './world.ts';

const plannedFailure = 'failed on request';

const balancerOf = ({ account }: TestServer, service: Service) =>
  account.of('balancer').find(({ label, tags }) => label === balancerLabel('ccm', service) || tags.includes(serviceTag(service)));

/** Names of the nodes behind a Service's NodeBalancer. */
export function backendsOf(server: TestServer, service: Service): string[] {
  const balancer = balancerOf(server, service);
  const configs = new Configs(server.account);
  const labels = balancer ? configs.of(balancer.id).flatMap(({ id }) => configs.nodesOf(id).map((node) => node.label)) : [];
  return [...new Set(labels)];
}

/** Each as `TCP 80 30001`; without nodes the last word is missing. */
export function listenersOf(server: TestServer, service: Service): string[] {
  const balancer = balancerOf(server, service);
  const configs = new Configs(server.account);
  if (!balancer) return [];
  return configs.of(balancer.id).map(({ id, protocol, port }) => {
    const [node] = configs.nodesOf(id);
    return [protocol === 'udp' ? 'UDP' : 'TCP', port, node?.address.split(':').at(-1)]
      .filter((word) => word !== undefined)
      .join(' ');
  });
}

/** Whom the firewall of a Service's NodeBalancer lets in; without one that is everybody. */
export function sourcesOf(server: TestServer, service: Service): string[] {
  const balancer = balancerOf(server, service);
  const device = server.account.of('device').find((one) => one.balancer === balancer?.id);
  const firewall = server.account.of('firewall').find(({ id }) => id === device?.firewall);
  return firewall ? firewall.rules.inbound.flatMap(({ addresses }) => addresses.ipv4 ?? []) : ['0.0.0.0/0'];
}

/** All that a provider has made for load balancers and that is still there. */
export const leftoversOf = ({ account }: TestServer): string[] =>
  (['balancer', 'config', 'node', 'firewall', 'device'] as const).flatMap((kind) =>
    account.of(kind).map(({ id }) => `${kind} ${id}`),
  );

/** A Service that asks for a firewall: its load balancer has more than one piece. */
const firewallAcl = {
  [prefix + annotation.firewallAcl]: JSON.stringify({ allowList: { ipv4: ['198.51.100.0/24'], ipv6: ['2001:db8::/32'] } }),
};

/** `vpc`: nodes in a VPC, and routes. `flaky`: every fifth request fails. */
export async function openConformance({ vpc = false, firewalls = false, flaky = false } = {}): Promise<ConformanceWorld> {
  const { server, open } = await openWorld();
  const { account, faults } = server;
  const subnet = vpc
    ? account.addSubnet(account.addVpc('k8s', region).id, 'default', '10.0.0.0/16', 'fd00:10:244::/48').id
    : undefined;
  const openAs = async (): Promise<CloudProvider> => {
    const cloud = await open(vpc ? { flags: { vpcNames: ['k8s'], routeController: true } } : {});
    const kind = firewalls ? withAnnotations(cloud, firewallAcl) : cloud;
    return flaky ? persistent(kind, { passes: (error) => String(error).includes(plannedFailure) }) : kind;
  };
  const cloud = await openAs();
  if (flaky) faults.rates = { ...everyFifth };
  return {
    cloud,
    cluster: 'kubernetes',
    addInstance: (name) => void account.addLinode(name, region, subnet === undefined ? {} : { subnet }),
    stopInstance: (name) => account.setStatus(name, 'offline'),
    terminateInstance: (name) => account.removeLinode(name),
    backends: (service) => backendsOf(server, service),
    listeners: (service) => listenersOf(server, service),
    // With firewalls, an annotation says who may come.
    ...(!firewalls && { sources: (service: Service) => sourcesOf(server, service) }),
    leftovers: () => leftoversOf(server),
    failInTheMiddle: () =>
      faults.add({ method: 'POST', path: '/v4/nodebalancers', status: 400, code: 'region', message: plannedFailure }),
    // What fails now and then already would take too many tries.
    ...(!flaky && { storm: (kind) => faults.storm(kind) }),
    secondProvider: openAs,
    close: () => server.close(),
  };
}
