// What the conformance suite needs of a cloud, by the test server: machines, and a look at load balancers past the provider.
import type { CloudProvider, Service } from 'sagong/cloud-provider';
import { type ConformanceWorld, persistent, type RuleByHand, withAnnotations } from 'sagong/cloud-provider/conformance';
import { everyFifth, noRates } from 'sagong/cloud-provider/test-server';
import { balancerName } from '../src/names.ts';
import type { StoredBalancer, TestServer } from './index.ts';
import { openWorld } from './world.ts';

const plannedFailure = 'failed on request';

/** The load balancers of a Service that are not deleted. */
export const balancersOf = ({ account }: TestServer, service: Service): StoredBalancer[] => {
  const names = [balancerName('lb', service, ''), balancerName('nlb', service, '')];
  return account
    .of('balancer')
    .filter(({ displayName, lifecycleState }) => names.includes(displayName) && lifecycleState !== 'DELETED');
};

/** Names of the instances behind a Service's load balancer. */
export function backendsOf(server: TestServer, service: Service): string[] {
  const { account } = server;
  const sets = balancersOf(server, service).flatMap(({ backendSets }) => Object.values(backendSets));
  const addresses = new Set(sets.flatMap(({ backends }) => backends.map(({ ipAddress }) => ipAddress)));
  const vnics = new Map(account.of('vnic').map(({ id, privateIp }) => [privateIp, id]));
  return [...addresses].map((address) => {
    const vnicId = vnics.get(address);
    const instanceId = account.of('attachment').find((one) => one.vnicId === vnicId)?.instanceId ?? '';
    return account.get('instance', instanceId)?.displayName ?? `${address}`;
  });
}

/** Each as `TCP 80 30001`; without nodes the last word is missing. */
export const listenersOf = (server: TestServer, service: Service): string[] =>
  balancersOf(server, service).flatMap(({ listeners, backendSets }) =>
    Object.values(listeners).map(({ protocol, port, defaultBackendSetName }) => {
      const nodePort = backendSets[defaultBackendSetName]?.backends[0]?.port;
      return [protocol, port, nodePort].filter((word) => word !== undefined).join(' ');
    }),
  );

/** Whom rules of security lists, and of groups, let in to the listeners of a Service's load balancer. */
export function sourcesOf(server: TestServer, service: Service): string[] {
  const { account } = server;
  const balancers = balancersOf(server, service);
  const ports = balancers.flatMap(({ listeners }) => Object.values(listeners).map(({ port }) => port));
  const lists = account.of('list').flatMap(({ ingressSecurityRules }) => ingressSecurityRules);
  const groups = balancers.flatMap(({ networkSecurityGroupIds = [] }) => networkSecurityGroupIds);
  const ofGroups = account.of('groupRule').filter(({ group, direction }) => groups.includes(group) && direction === 'INGRESS');
  return [...lists, ...ofGroups].flatMap(({ tcpOptions, source = '' }) =>
    ports.includes(tcpOptions?.destinationPortRange?.min ?? 0) ? [source] : [],
  );
}

/** All that a provider has made for load balancers and that is still there. */
export function leftoversOf({ account }: TestServer): string[] {
  const there = account.of('balancer').filter(({ lifecycleState }) => lifecycleState !== 'DELETED');
  const rules = account
    .of('list')
    .flatMap((list) => [...list.ingressSecurityRules, ...list.egressSecurityRules].map((rule) => `rule ${JSON.stringify(rule)}`));
  return [
    ...there.map(({ kind, displayName }) => `${kind} ${displayName}`),
    ...account.of('group').map(({ displayName }) => `group ${displayName}`),
    ...account.of('groupRule').map(({ id }) => `rule ${id}`),
    ...rules,
  ];
}

/** In each list, also in those that the Service does not use. */
function letInByHand({ account }: TestServer, service: Service, source: string): RuleByHand {
  const rules = (service.spec?.ports ?? [])
    .flatMap(({ port, nodePort = port }) => [port, nodePort])
    .map((port) => ({
      protocol: '6',
      source,
      tcpOptions: { destinationPortRange: { min: port, max: port } },
      description: 'by hand',
    }));
  const lists = account.of('list').map(({ id }) => id);
  for (const id of lists) {
    const list = account.must('list', id);
    account.put('list', { ...list, ingressSecurityRules: [...list.ingressSecurityRules, ...rules] });
  }
  const inList = (id: string) =>
    account.must('list', id).ingressSecurityRules.filter(({ description }) => description === 'by hand');
  return { isThere: () => lists.every((id) => inList(id).length === rules.length) };
}

/** `annotations`: of every Service. `flaky`: every fifth request fails, work requests fail late, and what is made is seen late. */
export async function openConformance({
  annotations = {},
  flaky = false,
}: {
  annotations?: Record<string, string>;
  flaky?: boolean;
} = {}): Promise<ConformanceWorld> {
  const { server, open } = await openWorld();
  const { account, faults } = server;
  const openAs = async (): Promise<CloudProvider> => {
    const cloud = withAnnotations(await open(), annotations);
    return flaky
      ? persistent(cloud, {
          passes: (error) => String(error).includes(plannedFailure) && !String(error).includes('work request'),
        })
      : cloud;
  };
  const cloud = await openAs();
  faults.rates = flaky
    ? {
        ...everyFifth,
        lateFailure: 0.05,
        operationMs: 4_000,
      }
    : { ...noRates, operationMs: 2_000 };
  return {
    cloud,
    cluster: 'kubernetes',
    addInstance: (name) => void account.addInstance(name),
    stopInstance: (name) => account.setState(name, 'STOPPED'),
    terminateInstance: (name) => account.removeInstance(name),
    backends: (service) => backendsOf(server, service),
    listeners: (service) => listenersOf(server, service),
    sources: (service) => sourcesOf(server, service),
    letInByHand: (service, range) => letInByHand(server, service, range),
    leftovers: () => leftoversOf(server),
    // In the middle of what makes its rules, of either kind.
    failInTheMiddle: () =>
      faults.add({
        path: /\/securityLists\/|\/addSecurityRules$/,
        method: /PUT|POST/,
        status: 400,
        code: 'InvalidParameter',
        message: plannedFailure,
      }),
    // What fails now and then already would take too many tries.
    ...(!flaky && { storm: (kind) => faults.storm(kind) }),
    secondProvider: openAs,
    close: () => server.close(),
  };
}
