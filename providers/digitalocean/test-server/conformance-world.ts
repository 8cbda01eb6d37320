// What the conformance suite needs of a cloud, by the test server: droplets, and a look at load balancers past the provider.
import { type CloudProvider, defaultLoadBalancerName, type Service } from 'sagong/cloud-provider';
import { type ConformanceWorld, persistent } from 'sagong/cloud-provider/conformance';
import { everyFifth, hastyClock } from 'sagong/cloud-provider/test-server';
import type { ForwardingRule, LoadBalancerRequest } from '../src/api/types.ts';
import { openWorldAt, settling } from './world.ts';

const plannedFailure = 'failed on request';

/** Opens a world for the conformance suite; a `flaky` one fails every fifth request. */
export async function openConformance({ flaky = false } = {}): Promise<ConformanceWorld> {
  const { server, open, close } = await openWorldAt(hastyClock());
  const { account, faults } = server;
  const balancerOf = (service: Service) => account.loadBalancerNamed(defaultLoadBalancerName(service));
  // A load balancer is `new` at first and then asks to be looked at again, which the suite does not do by itself.
  const openAs = async (): Promise<CloudProvider> => {
    const cloud = await open();
    if (flaky) return persistent(cloud, { passes: (error) => String(error).includes(plannedFailure) });
    return { ...cloud, ...(cloud.loadBalancer && { loadBalancer: settling(cloud.loadBalancer) }) };
  };
  const cloud = await openAs();
  if (flaky) faults.rates = { ...everyFifth };
  return {
    cloud,
    cluster: 'kubernetes',
    addInstance: (name) => void account.addDroplet(name),
    stopInstance: (name) => void (account.dropletNamed(name).status = 'off'),
    terminateInstance: (name) => void account.droplets.delete(account.dropletNamed(name).id),
    backends: (service) => balancerOf(service).droplet_ids.map((id) => account.droplets.get(id)?.name ?? String(id)),
    // Network load balancers send to the port itself, not to the node port.
    listeners: (service) =>
      (balancerOf(service).forwarding_rules as ForwardingRule[]).map(
        ({ entry_protocol, entry_port }) => `${entry_protocol.toUpperCase()} ${entry_port}`,
      ),
    sources(service) {
      const { allow } = balancerOf(service).firewall as LoadBalancerRequest['firewall'];
      return allow.length > 0 ? allow.map((one) => one.replace(/^cidr:/, '')) : ['0.0.0.0/0'];
    },
    leftovers: () => [...account.loadBalancers.values()].map(({ name }) => name),
    failInTheMiddle: () =>
      server.fail({ method: 'POST', path: /load_balancers/, status: 500, afterwards: true, message: plannedFailure }),
    // What fails now and then already would take too many tries.
    ...(!flaky && { storm: (kind) => faults.storm(kind) }),
    secondProvider: openAs,
    close,
  };
}
