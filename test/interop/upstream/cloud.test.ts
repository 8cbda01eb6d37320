// The cloud's loops as drop-ins: upstream's cloud-controller-manager on our apiserver, ours on upstream's; nodes join through them, and Services get
// load balancers. Skipped unless SAGONG_UPSTREAM_BIN names a folder with upstream's programs (build.sh).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../e2e/cluster/harness.ts';
import { versionOf } from '../etcd-cluster.ts';
import type { Api, Item } from './api.ts';
import { makeNamespace } from './scenarios.ts';
import { type Component, clusterCidr, hasUpstream, type Maker, nodeNames, World } from './world.ts';

const timeoutMs = 60_000;
const pairs: readonly { apiserver: Maker; manager: Maker }[] = [
  { apiserver: 'sagong', manager: 'upstream' },
  { apiserver: 'upstream', manager: 'sagong' },
];
const needs = ({ apiserver, manager }: (typeof pairs)[number]): Component[] => [
  ...(apiserver === 'upstream' ? (['kube-apiserver'] as const) : []),
  ...(manager === 'upstream' ? (['cloud-controller-manager'] as const) : []),
];
const complaints = /forbidden|panic|failed to (?:list|watch)|unable to (?:decode|sync)|unknown field|cannot unmarshal|proto: /i;

interface Condition {
  type: string;
  status: string;
  reason: string;
}

for (const pair of pairs) {
  const canRun = needs(pair).every(hasUpstream) && (pair.apiserver === 'sagong' || versionOf('etcd') !== undefined);
  const title = `cloud-controller-manager of ${pair.manager} on kube-apiserver of ${pair.apiserver}`;
  describe.skipIf(!canRun)(`${title} (skipped without SAGONG_UPSTREAM_BIN and etcd)`, () => {
    let world: World;
    let api: Api;
    const node = (name: string): Promise<Item> => api.get(`/api/v1/nodes/${name}`);
    const services = '/api/v1/namespaces/work/services';

    beforeAll(async () => {
      world = await World.create();
      api = await world.startApiServer(pair.apiserver, pair.apiserver === 'upstream' ? await world.startEtcd() : undefined);
      await world.startScheduler('sagong', api);
      await world.startControllerManager('sagong', api, ['--allocate-node-cidrs', `--cluster-cidr=${clusterCidr}`]);
      await world.startNodes(api, true);
      await makeNamespace(api, 'work');
    });
    afterAll(() => world.stop());

    it('completes nodes, which take pods only then', async () => {
      const taints = async (name: string): Promise<string[]> =>
        ((await node(name)).spec?.['taints'] as { key: string }[] | undefined)?.map(({ key }) => key) ?? [];
      for (const name of nodeNames) expect(await taints(name)).toContain('node.cloudprovider.kubernetes.io/uninitialized');
      await api.create('/api/v1/namespaces/work/pods', {
        metadata: { name: 'early' },
        spec: { containers: [{ name: 'app', image: 'example.org/app:1' }] },
      });
      await world.startCloudControllerManager(pair.manager, api);
      for (const name of nodeNames)
        await eventually(`${name} without taints`, async () => (await taints(name)).length === 0, timeoutMs);
      for (const name of nodeNames) {
        const { metadata, spec, status } = await node(name);
        expect(spec?.['providerID']).toMatch(/^fake:\/\//);
        for (const label of ['node.kubernetes.io/instance-type', 'topology.kubernetes.io/zone', 'topology.kubernetes.io/region'])
          expect(metadata.labels?.[label]).toMatch(/./);
        const network = (status?.['conditions'] as Condition[] | undefined)?.find(({ type }) => type === 'NetworkUnavailable');
        expect(network).toMatchObject({ status: 'False', reason: 'RouteCreated' });
      }
      const running = async (): Promise<boolean> =>
        (await api.get('/api/v1/namespaces/work/pods/early')).status?.['phase'] === 'Running';
      await eventually('the early pod', running, timeoutMs);
    });

    it('gives a Service a load balancer, and takes it back', async () => {
      await api.create(services, { metadata: { name: 'web' }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
      const ingress = (item: Item): { ip?: string }[] =>
        (item.status?.['loadBalancer'] as { ingress?: { ip?: string }[] } | undefined)?.ingress ?? [];
      const web = await eventually(
        'an address',
        async () => {
          const found = await api.get(`${services}/web`);
          return ingress(found).length === 1 && found;
        },
        timeoutMs,
      );
      expect((web.metadata as { finalizers?: string[] }).finalizers).toEqual(['service.kubernetes.io/load-balancer-cleanup']);
      await api.patch(`${services}/web`, { spec: { type: 'ClusterIP' } });
      await eventually(
        'no load balancer',
        async () => {
          const { metadata, ...rest } = await api.get(`${services}/web`);
          return !('finalizers' in metadata) && ingress({ metadata, ...rest }).length === 0;
        },
        timeoutMs,
      );
      await api.patch(`${services}/web`, { spec: { type: 'LoadBalancer' } });
      await eventually('an address again', async () => ingress(await api.get(`${services}/web`)).length === 1, timeoutMs);
      await api.call('DELETE', `${services}/web`);
      await eventually('the Service is gone', async () => (await api.raw('GET', `${services}/web`)).status === 404, timeoutMs);
    });

    it('tells of it in events, and neither side complains', async () => {
      const events = await api.list('/api/v1/namespaces/work/events');
      const reasons = new Set(events.map(({ reason }) => reason));
      for (const reason of ['EnsuringLoadBalancer', 'EnsuredLoadBalancer', 'DeletingLoadBalancer', 'DeletedLoadBalancer'])
        expect(reasons).toContain(reason);
      const log = world.log('cloud-controller-manager');
      expect(log.split('\n').filter((line) => complaints.test(line))).toEqual([]);
    });
  });
}
