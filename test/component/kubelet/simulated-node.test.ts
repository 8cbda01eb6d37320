// A simulated node against the real apiserver: what it writes is accepted, merged and found again.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Lease } from '#api/coordination/v1';
import type { Node, Pod } from '#api/core/v1';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import { type ApiServer, createApiServer } from '#apiserver';
import { createClient, type KubeClient } from '#client';
import { systemClock, systemRng } from '#host';
import { createSimulatedNode, type Kubelet, serveSimulatedNodes, StaticPods } from '#kubelet';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { type EmbeddedStore, openMemoryStore } from '#store';
import { silentLogger } from '#utils';
import { createWireClient } from '#wire';

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource });
const waitMs = 30_000;

let store: EmbeddedStore;
let server: ApiServer;
let admin: KubeClient;
let kubelet: Kubelet;

async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const end = Date.now() + waitMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const pods = () => admin.resource<Pod>(core('pods'), 'default');
const phase = (name: string, wanted: string): Promise<Pod> =>
  until(`${name} is ${wanted}`, async () => {
    const pod = await pods().get(name);
    return pod.status?.phase === wanted && pod;
  });
const gone = (name: string): Promise<boolean> =>
  until(`${name} is gone`, async () => (await pods().list()).items.every(({ metadata }) => metadata.name !== name));

const create = (name: string, spec: Partial<Pod['spec']> = {}, annotations: Record<string, string> = {}): Promise<Pod> =>
  pods().create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, annotations },
    spec: { nodeName: 'n1', containers: [{ name: 'app', image: 'nginx:1' }], ...spec },
  });

beforeEach(async () => {
  const deps = { clock: systemClock(), rng: systemRng(), logger: silentLogger };
  store = openMemoryStore();
  server = await createApiServer({ store, clock: deps.clock, rng: deps.rng, deepFreeze: true });
  admin = createClient(server.transport({ name: 'admin', groups: ['system:masters'] }, 'test'));
  for (const name of ['default', 'kube-node-lease']) {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await admin
      .resource(core('namespaces'))
      .create(namespace)
      .catch(() => {});
  }
  const client = createClient(
    server.transport({ name: 'system:node:n1', groups: ['system:nodes', 'system:masters'] }, 'kubelet'),
  );
  kubelet = createSimulatedNode({ name: 'n1', nodeIP: '10.9.0.1' }, { ...deps, client });
  await kubelet.start();
});
afterEach(async () => {
  kubelet.close();
  await server.close();
  await store.close();
});

describe('a simulated node and the apiserver', () => {
  it('is Ready, with a lease owned by the node', async () => {
    const node = await admin.resource<Node>(core('nodes')).get('n1');
    expect(node.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'True',
      reason: 'KubeletReady',
    });
    expect(node.status?.addresses).toEqual([
      { type: 'InternalIP', address: '10.9.0.1' },
      { type: 'Hostname', address: 'n1' },
    ]);
    const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
    const lease = await until('lease', () =>
      admin
        .resource<Lease>(leases, 'kube-node-lease')
        .get('n1')
        .catch(() => undefined),
    );
    expect(lease).toMatchObject({
      spec: { holderIdentity: 'n1', leaseDurationSeconds: 40 },
      metadata: { ownerReferences: [{ uid: node.metadata.uid }] },
    });
  });

  it('runs a pod, keeps conditions of others, and lets it go', async () => {
    await create('web', { readinessGates: [{ conditionType: 'example.com/gate' }] });
    const running = await phase('web', 'Running');
    expect(running.status?.podIPs).toHaveLength(1);
    const gate = { conditions: [{ type: 'example.com/gate', status: 'True' }] };
    await pods().patch('web', 'application/strategic-merge-patch+json', { status: gate }, { subresource: 'status' });
    const ready = await until('ready', async () => {
      const pod = await pods().get('web');
      return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') && pod;
    });
    expect(ready.status?.conditions?.map(({ type }) => type)).toContain('example.com/gate');
    await pods().delete('web');
    await gone('web');
  });

  it('goes through a whole life: init, crash, back-off, end', async () => {
    const life = { 'simulated.sagong.dev/run-for.app': '20ms', 'simulated.sagong.dev/exit-code.app': '1' };
    await create('once', { restartPolicy: 'Never', initContainers: [{ name: 'init', image: 'busybox' }] }, life);
    const failed = await phase('once', 'Failed');
    expect(failed.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 1, reason: 'Error' });
    expect(failed.status?.initContainerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0);
    type Told = KubeObject & { reason: string; involvedObject: { fieldPath?: string } };
    // Events are written behind the pod's back.
    const started = await until('it is told', async () => {
      const { items } = await admin.resource<Told>(core('events'), 'default').list();
      return items.find(({ reason }) => reason === 'Started');
    });
    expect(started.involvedObject.fieldPath).toBe('spec.initContainers{init}');
  });

  it('mirrors a static pod, and ends it with its manifest', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sagong-manifests-'));
    const manifests = new StaticPods({
      ...{
        nodeName: kubelet.options.nodeName,
        client: kubelet.parts.client,
        state: kubelet.parts.state,
        workers: kubelet.workers,
      },
      ...{ directory, clock: systemClock(), logger: silentLogger },
    });
    try {
      const path = join(directory, 'web.yaml');
      await writeFile(
        path,
        'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers: [{name: app, image: "nginx:1"}]\n',
      );
      await manifests.start();
      const mirror = await until('mirror runs', async () => {
        const pod = await pods()
          .get('web-n1')
          .catch(() => undefined);
        return pod?.status?.phase === 'Running' && pod;
      });
      expect(mirror.metadata.annotations?.['kubernetes.io/config.mirror']).toBe(
        mirror.metadata.annotations?.['kubernetes.io/config.hash'],
      );
      expect(mirror.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Node', name: 'n1' });
      await rm(path);
      await gone('web-n1');
    } finally {
      manifests.close();
      await rm(directory, { recursive: true });
    }
  });

  it('says honestly over its server that nothing runs', async () => {
    const ca = createCertificateAuthority({ commonName: 'ca' });
    const { cert, key } = issueCertificate({ ca, commonName: 'nodes', ips: ['127.0.0.1'], usages: ['server auth'] });
    const wire = await serveSimulatedNodes(
      () => [kubelet],
      { tls: { cert, key }, listen: { port: 0 }, anonymous: true, tokenReview: false, authorization: 'AlwaysAllow' },
      { client: admin, clock: systemClock(), logger: silentLogger },
    );
    const asked = createWireClient({ baseUrl: `https://127.0.0.1:${wire.port}`, tls: { ca: ca.cert } });
    try {
      await create('web');
      await phase('web', 'Running');
      const headers = { host: '10.9.0.1:10250' };
      const logs = await asked.request({ path: '/containerLogs/default/web/app', headers });
      expect(await logs.text()).toContain('This container is simulated');
      const exec = asked.upgrade({
        path: '/exec/default/web/app?command=ls&output=1',
        headers: { ...headers, upgrade: 'SPDY/3.1', connection: 'Upgrade' },
      });
      await expect(exec).rejects.toThrow('simulated');
      expect((await asked.request({ path: '/pods', headers: { host: '10.9.0.2:10250' } })).status).toBe(404);
    } finally {
      asked.close();
      await wire.close({ graceMs: 0 });
    }
  });

  it('starts a hundred pods at once', async () => {
    await Promise.all(Array.from({ length: 100 }, (_, index) => create(`p${index}`)));
    const all = await until('all run', async () => {
      const { items } = await pods().list();
      return items.length === 100 && items.every(({ status }) => status?.phase === 'Running') && items;
    });
    expect(new Set(all.map(({ status }) => status?.podIP)).size).toBe(100);
  });
});
