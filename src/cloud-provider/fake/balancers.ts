// Load balancers of the fake cloud: three pieces, made and removed one after the other, so that a failure in between leaves some.
import type { LoadBalancerStatus, Node, Service } from '#api/core/v1';
import { keyOf } from '#apimachinery/meta';
import { defaultLoadBalancerName, healthCheckOf, sourceRangesOf } from '../helpers.ts';
import type { LoadBalancer } from '../types.ts';
import type { FakeBalancer, FakeCloud } from './cloud.ts';

const listenersOf = ({ spec }: Service): string[] =>
  (spec?.ports ?? []).map(({ protocol = 'TCP', port, nodePort }) => [protocol, port, ...(nodePort ? [nodePort] : [])].join(':'));

const backendsOf = (nodes: readonly Node[]): string[] => nodes.map(({ metadata }) => metadata.name ?? '').sort();

const statusOf = ({ address, listeners }: FakeBalancer): LoadBalancerStatus =>
  address && listeners ? { ingress: [{ ip: address }] } : {};

export function fakeBalancers(cloud: FakeCloud): LoadBalancer {
  const { gate, balancers } = cloud;
  const find = (cluster: string, service: Service): FakeBalancer | undefined =>
    cloud.balancersNamed(cluster, defaultLoadBalancerName(service))[0];
  /** Nothing can be done to one that somebody else removed meanwhile. */
  const stillThere = ({ id }: FakeBalancer): void => {
    if (!balancers.has(id)) throw new Error(`there is no load balancer ${id}`);
  };
  return {
    async getLoadBalancer(cluster, service, signal) {
      await gate.enter('getLoadBalancer', keyOf(service.metadata), signal);
      const found = find(cluster, service);
      return found && statusOf(found);
    },
    getLoadBalancerName: (_cluster, service) => defaultLoadBalancerName(service),
    async ensureLoadBalancer(cluster, service, nodes, signal) {
      const ranges = sourceRangesOf(service);
      const call = await gate.enter('ensureLoadBalancer', keyOf(service.metadata), signal);
      let balancer = find(cluster, service);
      if (!balancer) {
        await call.step('create');
        const { uid = '' } = service.metadata;
        balancer = cloud.addBalancer(cluster, defaultLoadBalancerName(service), keyOf(service.metadata), uid);
      }
      balancer.address ??= service.spec?.loadBalancerIP || cloud.newAddress();
      await call.step('firewall');
      stillThere(balancer);
      balancer.sourceRanges = ranges;
      await call.step('listeners');
      stillThere(balancer);
      balancer.listeners = listenersOf(service);
      balancer.affinity = service.spec?.sessionAffinity ?? 'None';
      balancer.healthCheckNodePort = healthCheckOf(service)?.port ?? 0;
      await call.step('backends');
      stillThere(balancer);
      balancer.backends = backendsOf(nodes);
      call.done();
      return statusOf(balancer);
    },
    async updateLoadBalancer(cluster, service, nodes, signal) {
      const call = await gate.enter('updateLoadBalancer', keyOf(service.metadata), signal);
      const balancer = find(cluster, service);
      if (!balancer) throw new Error(`there is no load balancer ${cluster}/${defaultLoadBalancerName(service)}`);
      balancer.backends = backendsOf(nodes);
      call.done();
    },
    async ensureLoadBalancerDeleted(cluster, service, signal) {
      const call = await gate.enter('ensureLoadBalancerDeleted', keyOf(service.metadata), signal);
      for (const balancer of cloud.balancersNamed(cluster, defaultLoadBalancerName(service))) {
        delete balancer.listeners;
        balancer.backends = [];
        await call.step('firewall');
        delete balancer.sourceRanges;
        await call.step('address');
        balancers.delete(balancer.id);
      }
      call.done();
    },
  };
}
