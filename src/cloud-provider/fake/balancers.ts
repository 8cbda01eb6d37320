// Load balancers of the fake cloud: three pieces, made and removed one after the other, so that a failure in between leaves some.
import type { LoadBalancerStatus, Node, Service } from '#api/core/v1';
import { keyOf } from '#apimachinery/meta';
import { defaultLoadBalancerName, sourceRangesOf } from '../helpers.ts';
import type { LoadBalancer } from '../types.ts';
import type { FakeBalancer, FakeCloud } from './cloud.ts';

const listenersOf = ({ spec }: Service): string[] =>
  (spec?.ports ?? []).map(({ protocol = 'TCP', port, nodePort = 0 }) => `${protocol}:${port}:${nodePort}`);

const backendsOf = (nodes: readonly Node[]): string[] => nodes.map(({ metadata }) => metadata.name ?? '').sort();

const statusOf = ({ address, listeners }: FakeBalancer): LoadBalancerStatus =>
  address && listeners ? { ingress: [{ ip: address }] } : {};

export function fakeBalancers(cloud: FakeCloud): LoadBalancer {
  const { gate, balancers } = cloud;
  const nameOf = (cluster: string, service: Service): string => `${cluster}/${defaultLoadBalancerName(service)}`;
  return {
    async getLoadBalancer(cluster, service, signal) {
      await gate.enter('getLoadBalancer', keyOf(service.metadata), signal);
      const found = balancers.get(nameOf(cluster, service));
      return found && statusOf(found);
    },
    getLoadBalancerName: (_cluster, service) => defaultLoadBalancerName(service),
    async ensureLoadBalancer(cluster, service, nodes, signal) {
      await gate.enter('ensureLoadBalancer', keyOf(service.metadata), signal);
      const name = nameOf(cluster, service);
      const balancer: FakeBalancer = balancers.get(name) ?? {
        name,
        cluster,
        service: keyOf(service.metadata),
        serviceUid: service.metadata.uid ?? '',
        backends: [],
      };
      const ranges = sourceRangesOf(service);
      balancers.set(name, balancer);
      balancer.address ??= service.spec?.loadBalancerIP || cloud.newAddress();
      gate.step('ensureLoadBalancer', 'firewall');
      balancer.sourceRanges = ranges;
      gate.step('ensureLoadBalancer', 'listeners');
      balancer.listeners = listenersOf(service);
      gate.step('ensureLoadBalancer', 'backends');
      balancer.backends = backendsOf(nodes);
      return statusOf(balancer);
    },
    async updateLoadBalancer(cluster, service, nodes, signal) {
      await gate.enter('updateLoadBalancer', keyOf(service.metadata), signal);
      const balancer = balancers.get(nameOf(cluster, service));
      if (!balancer) throw new Error(`there is no load balancer ${nameOf(cluster, service)}`);
      balancer.backends = backendsOf(nodes);
    },
    async ensureLoadBalancerDeleted(cluster, service, signal) {
      await gate.enter('ensureLoadBalancerDeleted', keyOf(service.metadata), signal);
      const balancer = balancers.get(nameOf(cluster, service));
      if (!balancer) return;
      delete balancer.listeners;
      balancer.backends = [];
      gate.step('ensureLoadBalancerDeleted', 'firewall');
      delete balancer.sourceRanges;
      gate.step('ensureLoadBalancerDeleted', 'address');
      balancers.delete(balancer.name);
    },
  };
}
