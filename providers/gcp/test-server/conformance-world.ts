// What the conformance suite needs of a cloud, by the test server: machines, and a look at load balancers past the provider.
import { type CloudProvider, defaultLoadBalancerName } from 'sagong/cloud-provider';
import { type ConformanceWorld, persistent, withAnnotations } from 'sagong/cloud-provider/conformance';
import { everyFifth } from 'sagong/cloud-provider/test-server';
import { annotation } from '../src/annotations.ts';
import { nameIn, pathIn, project, type Resource, type TestServer, zones } from './index.ts';
import { openWorld } from './world.ts';

const made = [
  'address',
  'forwardingRule',
  'targetPool',
  'httpHealthCheck',
  'healthCheck',
  'backendService',
  'instanceGroup',
  'firewall',
];
const plannedFailure = 'failed on request';

/** Names of the instances behind a load balancer. */
export function backendsOf({ projects }: TestServer, balancer: string): string[] {
  const rule = projects.of('forwardingRule').find(({ name }) => name === balancer);
  const names = (links: unknown): string[] => ((links as string[] | undefined) ?? []).map(nameIn);
  if (!rule?.['backendService']) return names(projects.of('targetPool').find(({ name }) => name === balancer)?.['instances']);
  const service = projects.get(pathIn(rule['backendService'], project));
  const groups = ((service?.['backends'] as { group: string }[] | undefined) ?? []).map(({ group }) =>
    projects.get(pathIn(group, project)),
  );
  return groups.flatMap((group) => names(group?.['members']));
}

/** The ports that the firewall lets through to it, each as `TCP 80`: an external forwarding rule has only a range. */
export function listenersOf({ projects }: TestServer, balancer: string): string[] {
  const firewall = projects.of('firewall').find(({ name }) => name === `k8s-fw-${balancer}`);
  const allowed = (firewall?.['allowed'] as { IPProtocol: string; ports: string[] }[] | undefined) ?? [];
  return allowed.flatMap(({ IPProtocol, ports }) =>
    ports.flatMap((range) => {
      const [from = 0, to = from] = range.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => `${IPProtocol.toUpperCase()} ${from + index}`);
    }),
  );
}

/** Whom the firewall of a load balancer lets in. */
export const sourcesOf = ({ projects }: TestServer, balancer: string): string[] =>
  (projects.of('firewall').find(({ name }) => name === `k8s-fw-${balancer}`)?.['sourceRanges'] as string[] | undefined) ?? [];

/** All that a provider has made for load balancers and that is still there. */
export const leftoversOf = ({ projects }: TestServer): Resource[] => made.flatMap((kind) => projects.of(kind));

/** Opens a world for the conformance suite. In a `flaky` one every fifth request fails, and operations fail late. */
export async function openConformance({ internal = false, flaky = false } = {}): Promise<ConformanceWorld> {
  const { server, clock, open } = await openWorld();
  const { projects } = server;
  const openAs = async (): Promise<CloudProvider> => {
    const cloud = await open();
    const kind = internal ? withAnnotations(cloud, { [annotation.type]: 'Internal' }) : cloud;
    return flaky ? persistent(kind, { clock, passes: (error) => String(error).includes(plannedFailure) }) : kind;
  };
  const cloud = await openAs();
  if (flaky)
    server.faults.rates = {
      ...everyFifth,
      lateFailure: 0.03,
      operationMs: 3_000,
    };
  let count = 0;
  return {
    cloud,
    cluster: 'kubernetes',
    addInstance: (name) => void projects.addInstance(project, zones[count++ % zones.length] as string, name, { tags: ['nodes'] }),
    stopInstance: (name) => projects.setStatus(name, 'TERMINATED'),
    terminateInstance: (name) => projects.removeInstance(name),
    backends: (service) => backendsOf(server, defaultLoadBalancerName(service)),
    listeners: (service) => listenersOf(server, defaultLoadBalancerName(service)),
    sources: (service) => sourcesOf(server, defaultLoadBalancerName(service)),
    leftovers: () => leftoversOf(server).map(({ kind, name }) => `${kind} ${name}`),
    failInTheMiddle: () =>
      server.faults.add({ method: 'POST', path: /forwardingRules$/, status: 400, code: 'invalid', message: plannedFailure }),
    // What fails now and then already would take too many tries.
    ...(!flaky && { storm: (kind) => server.faults.storm(kind) }),
    secondProvider: openAs,
    close: () => server.close(),
  };
}
