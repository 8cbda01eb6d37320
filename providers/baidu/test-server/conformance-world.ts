// What the conformance suite needs of a cloud, by the test server: machines, and a look at load balancers past the provider.
import type { CloudProvider, Service } from 'sagong/cloud-provider';
import { type ConformanceWorld, persistent } from 'sagong/cloud-provider/conformance';
import { everyFifth } from 'sagong/cloud-provider/test-server';
import { holderOf } from '../src/names.ts';
import type { TestServer } from './index.ts';
import { openWorld } from './world.ts';

const plannedFailure = 'failed on request';

export const balancerOf = ({ account }: TestServer, { metadata }: Service) =>
  account.of('balancer').find((balancer) => holderOf(balancer) === metadata.uid);

/** Names of the instances behind a Service's load balancer. */
export function backendsOf(server: TestServer, service: Service): string[] {
  const { account } = server;
  const blbId = balancerOf(server, service)?.blbId;
  const ids = account.of('backend').flatMap((one) => (one.blbId === blbId ? [one.instanceId] : []));
  return ids.map((id) => account.get('instance', id)?.name ?? id);
}

/** The listeners of a Service's load balancer, each as `TCP 80 30001`. */
export function listenersOf(server: TestServer, service: Service): string[] {
  const blbId = balancerOf(server, service)?.blbId;
  return server.account
    .of('listener')
    .flatMap((one) => (one.blbId === blbId ? [`${one.kind} ${one.listenerPort} ${one.backendPort}`] : []));
}

/** Whom the security groups of a Service's load balancer let in; without any that is everybody. */
export function sourcesOf({ account }: TestServer, service: Service): string[] {
  const groups = account.of('balancer').find((balancer) => holderOf(balancer) === service.metadata.uid)?.groups ?? [];
  const rules = groups.flatMap((id) => account.must('group', id).rules).filter(({ direction }) => direction === 'ingress');
  return groups.length > 0 ? rules.map(({ sourceIp }) => sourceIp) : ['0.0.0.0/0'];
}

/** All that a provider has made for load balancers and that is still there. */
export const leftoversOf = ({ account }: TestServer): string[] => [
  ...account.of('balancer').map(({ blbId }) => `BLB ${blbId}`),
  ...account.of('listener').map(({ id }) => `listener ${id}`),
  ...account.of('backend').map(({ id }) => `backend ${id}`),
  ...account.of('eip').map(({ eip }) => `EIP ${eip}`),
  ...account.of('group').map(({ id }) => `security group ${id}`),
];

const ranges: Service['spec'] = { loadBalancerSourceRanges: ['198.51.100.0/24', '203.0.113.0/24'] };
/** The provider as given, for which each Service names who may come: its load balancer has one piece more. */
function withRanges(cloud: CloudProvider): CloudProvider {
  const inner = cloud.loadBalancer;
  if (!inner) return cloud;
  const asking = (service: Service): Service => ({ ...service, spec: { ...service.spec, ...ranges } });
  return {
    ...cloud,
    loadBalancer: {
      ...inner,
      ensureLoadBalancer: (cluster, service, nodes, signal) => inner.ensureLoadBalancer(cluster, asking(service), nodes, signal),
    },
  };
}

/** `guarded`: with source ranges. `flaky`: every fifth request fails, and what is made takes its time. */
export async function openConformance({ guarded = false, flaky = false } = {}): Promise<ConformanceWorld> {
  const { server, open } = await openWorld();
  const { account, faults } = server;
  const openAs = async (): Promise<CloudProvider> => {
    const cloud = guarded ? withRanges(await open()) : await open();
    return flaky ? persistent(cloud, { passes: (error) => String(error).includes(plannedFailure) }) : cloud;
  };
  const cloud = await openAs();
  if (flaky)
    faults.rates = {
      ...everyFifth,
      lateFailure: 0.1,
      operationMs: 2_000,
    };
  return {
    cloud,
    cluster: 'kubernetes',
    addInstance: (name) => void account.addInstance(name),
    stopInstance: (name) => account.setStatus(name, 'Stopped'),
    terminateInstance: (name) => account.removeInstance(name),
    backends: (service) => backendsOf(server, service),
    listeners: (service) => listenersOf(server, service),
    ...(!guarded && { sources: (service: Service) => sourcesOf(server, service) }),
    leftovers: () => leftoversOf(server),
    failInTheMiddle: () =>
      faults.add({ method: 'POST', path: /backendserver$/, status: 400, code: 'BadRequest', message: plannedFailure }),
    // What fails now and then already would take too many tries.
    ...(!flaky && { storm: (kind) => faults.storm(kind) }),
    secondProvider: openAs,
    close: () => server.close(),
  };
}
