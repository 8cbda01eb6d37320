// Drop-in both ways: upstream's scheduler and controller manager on our apiserver, ours on upstream's, and both apiservers on one etcd.
// Skipped unless SAGONG_UPSTREAM_BIN names a folder with upstream's programs: building them takes many minutes (build.sh).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../e2e/cluster/harness.ts';
import { versionOf } from '../etcd-cluster.ts';
import type { Api, Item } from './api.ts';
import * as scenarios from './scenarios.ts';
import { type Component, hasUpstream, type Maker, World } from './world.ts';

const canRun = hasUpstream('kube-apiserver') && versionOf('etcd') !== undefined;
const without = '(skipped without SAGONG_UPSTREAM_BIN and etcd)';

/** What a component says when the other side lacks something it needs. */
const complaints =
  /forbidden|panic|could not find the requested resource|failed to (?:list|watch)|unable to (?:decode|sync)|unknown field|no kind .* is registered|cannot unmarshal|proto: /i;
/** Loops that meet a namespace on its way out are told so; the same happens on any Kubernetes. */
const expected = /is forbidden: unable to create new content in namespace \S+ because it is being terminated/;
const complaintsIn = (log: string): string[] => log.split('\n').filter((line) => complaints.test(line) && !expected.test(line));

type Main = Exclude<Component, 'cloud-controller-manager'>;
const clusters: readonly Record<Main, Maker>[] = [
  { 'kube-apiserver': 'sagong', 'kube-scheduler': 'upstream', 'kube-controller-manager': 'sagong' },
  { 'kube-apiserver': 'sagong', 'kube-scheduler': 'sagong', 'kube-controller-manager': 'upstream' },
  { 'kube-apiserver': 'upstream', 'kube-scheduler': 'sagong', 'kube-controller-manager': 'sagong' },
];
const canStart = (cluster: Record<Main, Maker>): boolean =>
  (Object.keys(cluster) as Main[]).every((name) => cluster[name] === 'sagong' || hasUpstream(name)) &&
  (cluster['kube-apiserver'] === 'sagong' || versionOf('etcd') !== undefined);

for (const cluster of clusters) {
  const makers = Object.entries(cluster).map(([component, maker]) => `${component} of ${maker}`);
  describe.skipIf(!canStart(cluster))(`${makers.join(', ')} ${without}`, () => {
    let world: World;
    let api: Api;
    const namespace = 'work';

    beforeAll(async () => {
      world = await World.create();
      api = await world.startApiServer(
        cluster['kube-apiserver'],
        cluster['kube-apiserver'] === 'upstream' ? await world.startEtcd() : undefined,
      );
      await world.startScheduler(cluster['kube-scheduler'], api);
      await world.startControllerManager(cluster['kube-controller-manager'], api);
      await world.startNodes(api);
      await scenarios.makeNamespace(api, namespace);
    });
    afterAll(() => world.stop());

    it('rolls a Deployment out, over and back', () => scenarios.rollsOut(api, namespace));
    it('collects garbage as the deletion asks', () => scenarios.collectsAsAsked(api, namespace));
    it('runs a Job to its end', () => scenarios.runsJobs(api, namespace));
    it('runs StatefulSet, DaemonSet and Service', () => scenarios.runsOtherWorkloads(api, namespace));
    it('deletes the namespace with all in it', () => scenarios.emptiesNamespace(api, namespace));
    it('leaves neither side with something to complain about', () => {
      expect(complaintsIn(world.log('kube-scheduler'))).toEqual([]);
      expect(complaintsIn(world.log('kube-controller-manager'))).toEqual([]);
    });
  });
}

describe.skipIf(!canRun)(`both apiservers on one etcd ${without}`, () => {
  let world: World;
  const servers = {} as Record<Maker, Api>;
  const other: Record<Maker, Maker> = { sagong: 'upstream', upstream: 'sagong' };

  beforeAll(async () => {
    world = await World.create();
    const etcd = await world.startEtcd();
    servers.upstream = await world.startApiServer('upstream', etcd);
    servers.sagong = await world.startApiServer('sagong', etcd);
    for (const name of Object.keys(other)) {
      await servers.sagong.create('/api/v1/namespaces', { metadata: { name } });
      await servers.sagong.create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
    }
  });
  afterAll(() => world.stop());

  it.each(Object.keys(other) as Maker[])('what %s writes the other reads, changes and deletes', async (maker) => {
    const [writer, reader] = [servers[maker], servers[other[maker]]];
    const path = `/apis/apps/v1/namespaces/${maker}/deployments`;
    const written = await writer.create(path, scenarios.deployment('web', 2));
    const read = await eventually('the object on the other side', () => reader.get(`${path}/web`));
    expect(read).toEqual(written);

    const changed = await reader.patch(`${path}/web`, { spec: { replicas: 5 } });
    const seen = await eventually('the change', async () => {
      const found = await writer.get(`${path}/web`);
      return found.metadata.resourceVersion === changed.metadata.resourceVersion && found;
    });
    expect(seen).toEqual(changed);
    await reader.delete(`${path}/web`);
    await eventually('the end', () => writer.isGone(`${path}/web`));
  });

  it.each(Object.keys(other) as Maker[])('every list of the other side is equal to that of %s', async (maker) => {
    const paths = [
      '/api/v1/namespaces',
      '/api/v1/services',
      '/apis/rbac.authorization.k8s.io/v1/clusterroles',
      '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
      '/apis/scheduling.k8s.io/v1/priorityclasses',
      '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
      '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
      '/apis/apiregistration.k8s.io/v1/apiservices',
      '/apis/networking.k8s.io/v1/servicecidrs',
      '/apis/networking.k8s.io/v1/ipaddresses',
    ];
    const sorted = async (api: Api, path: string): Promise<Item[]> =>
      (await api.list(path)).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    let seen = 0;
    for (const path of paths) {
      const expected = await sorted(servers[maker], path);
      expect(await sorted(servers[other[maker]], path), path).toEqual(expected);
      seen += expected.length;
    }
    expect(seen).toBeGreaterThan(150);
  });

  it('custom resources of one are served by the other', async () => {
    const schema = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } };
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
    await servers.sagong.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'widgets.example.org' },
      spec: { group: 'example.org', scope: 'Cluster', names, versions: [version] },
    });
    const path = '/apis/example.org/v1/widgets';
    const widget = { apiVersion: 'example.org/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 3 } };
    const written = await eventually('the kind on upstream', () => servers.upstream.create(path, widget));
    expect(await eventually('the widget', () => servers.sagong.get(`${path}/w`))).toEqual(written);
  });
});
