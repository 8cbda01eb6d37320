// What the conformance suite needs of a cloud, by the test server: machines, and a look at load balancers past the provider.
import type { CloudProvider, Service } from 'sagong/cloud-provider';
import { type ConformanceWorld, persistent, type RuleByHand, withAnnotations } from 'sagong/cloud-provider/conformance';
import { everyFifth } from 'sagong/cloud-provider/test-server';
import { annotation, prefix } from '../src/load-balancer/annotations.ts';
import { ownsPiece } from '../src/names.ts';
import { location, type TestServer } from './index.ts';
import { idOf, type Part, partsOf, type Resource } from '../src/emulator/resource.ts';
import { cluster, openWorld } from './world.ts';

const plannedFailure = 'failed on request';

export const balancersIn = ({ subscription }: TestServer): Resource[] => subscription.of('Microsoft.Network/loadBalancers');

const rulesOf = (server: TestServer, service: Service): Part[] =>
  balancersIn(server).flatMap((balancer) =>
    partsOf(balancer, 'loadBalancingRules').filter(({ name }) => ownsPiece(service, name)),
  );

/** Names of the nodes behind a Service's rules. */
export function backendsOf(server: TestServer, service: Service): string[] {
  const { subscription } = server;
  const pools = new Set(rulesOf(server, service).map(({ properties }) => idOf(properties?.['backendAddressPool'])));
  const byConfig = [...pools].flatMap((pool) => subscription.configsIn(pool)).map((config) => computerOf(server, config));
  const byAddress = balancersIn(server)
    .flatMap((balancer) => partsOf(balancer, 'backendAddressPools'))
    .filter(({ id = '' }) => pools.has(id.toLowerCase()))
    .flatMap(
      ({ properties }) =>
        (properties?.['loadBalancerBackendAddresses'] as { properties: { ipAddress: string } }[] | undefined) ?? [],
    )
    .map(({ properties }) => computerAt(server, properties.ipAddress));
  return [...new Set([...byConfig, ...byAddress])].filter((name) => name !== '');
}

const nameOf = (machine: Resource | undefined): string =>
  (machine?.properties['osProfile'] as { computerName?: string } | undefined)?.computerName ?? '';

function computerOf({ subscription }: TestServer, config: string): string {
  const member = /^(.*\/virtualMachineScaleSets\/[^/]+\/virtualMachines\/[^/]+)\//i.exec(config)?.[1];
  if (member) return nameOf(subscription.get(member));
  const card = subscription.get(config.replace(/\/ipConfigurations\/.*/i, ''));
  return nameOf(subscription.get(idOf(card?.properties['virtualMachine'])));
}
function computerAt({ subscription }: TestServer, address: string): string {
  const card = subscription
    .of('Microsoft.Network/networkInterfaces')
    .find((one) => partsOf(one, 'ipConfigurations').some(({ properties }) => properties?.['privateIPAddress'] === address));
  return nameOf(subscription.get(idOf(card?.properties['virtualMachine'])));
}

/** Each as `TCP 80`: with floating addresses nodes are reached at the port of the Service. */
export const listenersOf = (server: TestServer, service: Service): string[] =>
  rulesOf(server, service).map(
    ({ properties = {} }) => `${String(properties['protocol']).toUpperCase()} ${String(properties['frontendPort'])}`,
  );

const textsIn = (properties: Record<string, unknown> | undefined, one: string, many: string): string[] =>
  [properties?.[one] ?? [], properties?.[many] ?? []].flat().map(String);

/** Whom the network security group lets in to the addresses of a Service, at its ports. */
export function sourcesOf(server: TestServer, service: Service): string[] {
  const { subscription } = server;
  const rules = rulesOf(server, service);
  const frontends = new Set(rules.map(({ properties }) => idOf(properties?.['frontendIPConfiguration'])));
  const ports = rules.map(({ properties }) => String(properties?.['frontendPort']));
  const addresses = balancersIn(server)
    .flatMap((balancer) => partsOf(balancer, 'frontendIPConfigurations'))
    .filter(({ id = '' }) => frontends.has(id.toLowerCase()))
    .map(({ properties = {} }) =>
      String(properties['privateIPAddress'] ?? subscription.get(idOf(properties['publicIPAddress']))?.properties['ipAddress']),
    );
  const sources = subscription
    .of('Microsoft.Network/networkSecurityGroups')
    .flatMap((one) => partsOf(one, 'securityRules'))
    .filter(
      ({ properties: of }) =>
        of?.['access'] === 'Allow' &&
        textsIn(of, 'destinationAddressPrefix', 'destinationAddressPrefixes').some((one) => addresses.includes(one)) &&
        textsIn(of, 'destinationPortRange', 'destinationPortRanges').some((one) => ports.includes(one)),
    )
    .flatMap(({ properties: of }) => textsIn(of, 'sourceAddressPrefix', 'sourceAddressPrefixes'));
  return sources.map((one) => (one === 'Internet' ? '0.0.0.0/0' : one));
}

/** All that a provider has made for load balancers and that is still there. */
export function leftoversOf(server: TestServer): string[] {
  const { subscription } = server;
  const balancers = balancersIn(server);
  const parts = ['frontendIPConfigurations', 'loadBalancingRules', 'probes', 'backendAddressPools'].flatMap((list) =>
    balancers.flatMap((balancer) => partsOf(balancer, list).map(({ name }) => `${list} ${name}`)),
  );
  const rules = subscription
    .of('Microsoft.Network/networkSecurityGroups')
    .flatMap((one) => partsOf(one, 'securityRules').map(({ name }) => `rule ${name}`));
  const ips = subscription.of('Microsoft.Network/publicIPAddresses').filter(({ name }) => !name.endsWith('-nic-ip'));
  return [
    ...balancers.map(({ name }) => `load balancer ${name}`),
    ...parts,
    ...ips.map(({ name }) => `public IP ${name}`),
    ...rules,
  ];
}

/** A rule of another name for the same port, at the address of the load balancer. */
function letInByHand({ subscription }: TestServer, service: Service, range: string): RuleByHand {
  const group = () => subscription.of('Microsoft.Network/networkSecurityGroups')[0] as Resource;
  const [ours] = partsOf(group(), 'securityRules');
  const properties = {
    // Inside there may be none of ours.
    ...(ours?.properties ?? { sourcePortRange: '*', destinationAddressPrefix: '*' }),
    access: 'Allow',
    direction: 'Inbound',
    protocol: 'Tcp',
    priority: 200,
    sourceAddressPrefix: range,
    destinationPortRanges: (service.spec?.ports ?? []).map(({ port }) => String(port)),
  };
  const rules = [...partsOf(group(), 'securityRules'), { name: 'by-hand', properties }];
  subscription.put({ ...group(), properties: { ...group().properties, securityRules: rules } });
  const said = (of: Record<string, unknown> | undefined): string =>
    JSON.stringify([of?.['access'], of?.['priority'], of?.['sourceAddressPrefix'], of?.['destinationPortRanges']]);
  return { isThere: () => partsOf(group(), 'securityRules').some((one) => said(one.properties) === said(properties)) };
}

export interface ConformanceOptions {
  /** Nodes are members of a scale set. */
  scaleSet?: boolean;
  internal?: boolean;
  poolOfAddresses?: boolean;
  /** Every fifth request fails, and operations fail late. */
  flaky?: boolean;
}

export async function openConformance({
  scaleSet,
  internal,
  poolOfAddresses,
  flaky,
}: ConformanceOptions = {}): Promise<ConformanceWorld> {
  const { server, open } = await openWorld();
  const { subscription, faults } = server;
  if (scaleSet) subscription.addScaleSet('workers', location);
  const config = {
    ...(scaleSet && { vmType: 'vmss' }),
    ...(poolOfAddresses && { loadBalancerBackendPoolConfigurationType: 'nodeIP' }),
  };
  const openAs = async (): Promise<CloudProvider> => {
    const cloud = await open({ config });
    const kind = internal ? withAnnotations(cloud, { [prefix + annotation.internal]: 'true' }) : cloud;
    return flaky ? persistent(kind, { passes: (error) => String(error).includes(plannedFailure) }) : kind;
  };
  const cloud = await openAs();
  if (flaky)
    faults.rates = {
      ...everyFifth,
      lateFailure: 0.03,
      operationMs: 3_000,
    };
  let count = 0;
  return {
    cloud,
    cluster,
    addInstance(name) {
      const zone = String((count++ % 3) + 1);
      if (scaleSet) subscription.addMember('workers', name, location, { zone, ipv6: true });
      else subscription.addMachine(name, location, { zone, ipv6: true });
    },
    stopInstance: (name) => subscription.setPower(name, 'deallocated'),
    terminateInstance: (name) => subscription.removeMachine(name),
    backends: (service) => backendsOf(server, service),
    listeners: (service) => listenersOf(server, service),
    // Inside, whoever is in the network comes without a rule.
    ...(!internal && { sources: (service: Service) => sourcesOf(server, service) }),
    letInByHand: (service, range) => letInByHand(server, service, range),
    leftovers: () => leftoversOf(server),
    failInTheMiddle: () =>
      faults.add({
        method: 'PUT',
        path: /\/loadBalancers\//i,
        status: 400,
        code: 'InvalidRequestFormat',
        message: plannedFailure,
      }),
    // What fails now and then already would take too many tries.
    ...(!flaky && { storm: (kind) => faults.storm(kind) }),
    secondProvider: openAs,
    close: () => server.close(),
  };
}
