// Services with the real apiserver: the pods behind them, as EndpointSlices and as Endpoints.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Endpoints, Node, Pod, Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import { endpoints, endpointSlices, nodes, pods, services } from '#controller-runtime/workload';
import { createControllers, defaultControllersConfig } from '#controllers';
import { startWorld, type World } from './controllers-world.ts';

const chosen = createControllers(defaultControllersConfig).filter(({ name }) =>
  ['endpoints-controller', 'endpointslice-controller'].includes(name),
);

let world: World;
beforeEach(async () => {
  world = await startWorld(chosen);
  const node: Node = { metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'z1' } } };
  await world.client.resource<Node>(nodes).create(node);
});
afterEach(() => world.close());

const service = (extra: Service['spec'] = {}): Service => ({
  metadata: { name: 'web', namespace: 'default', labels: { team: 'a' } },
  spec: {
    selector: { app: 'web' },
    clusterIP: '10.0.0.5',
    clusterIPs: ['10.0.0.5'],
    ipFamilies: ['IPv4'],
    ports: [{ name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' }],
    ...extra,
  },
});

async function runPod(name: string, ip: string, ready = true): Promise<void> {
  await world.create<Pod>(pods, {
    metadata: { name, namespace: 'default', labels: { app: 'web' } },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort: 8080, protocol: 'TCP' }] }],
    },
  });
  await setReady(name, ready, ip);
}

const setReady = (name: string, ready: boolean, ip: string) =>
  world.client.resource<Pod>(pods, 'default').patch(
    name,
    'application/merge-patch+json',
    {
      status: {
        phase: 'Running',
        podIP: ip,
        podIPs: [{ ip }],
        conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }],
      },
    },
    { subresource: 'status' },
  );

const slicesWhen = (what: string, test: (slices: EndpointSlice[]) => boolean) =>
  world.until(what, async () => {
    const found = await world.list<EndpointSlice>(endpointSlices);
    return found.length > 0 && test(found) ? found : undefined;
  });

const addresses = (slices: EndpointSlice[]): string[] =>
  slices.flatMap((slice) => slice.endpoints ?? []).flatMap((one) => one.addresses);

test('a Service without pods has one empty slice, and Endpoints without subsets', async () => {
  await world.create(services, service());
  const [slice] = await slicesWhen('a slice', () => true);
  expect(slice?.metadata.name).toMatch(/^web-[a-z0-9]{5}$/);
  expect(slice?.metadata.labels).toEqual({
    team: 'a',
    'kubernetes.io/service-name': 'web',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  });
  expect(slice?.endpoints ?? []).toEqual([]);
  const found = await world.until('endpoints', async () => (await world.list<Endpoints>(endpoints))[0]);
  expect(found.subsets ?? []).toEqual([]);
  expect(found.metadata.labels).toEqual({ team: 'a', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' });
});

test('pods come in, turn unready and go', async () => {
  await world.create(services, service());
  await runPod('a', '10.1.0.1');
  await runPod('b', '10.1.0.2');
  const slices = await slicesWhen('both', (found) => addresses(found).length === 2);
  expect(slices).toHaveLength(1);
  expect(slices[0]?.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
  expect(slices[0]?.endpoints?.find(({ targetRef }) => targetRef?.name === 'a')).toMatchObject({
    addresses: ['10.1.0.1'],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: 'n1',
    zone: 'z1',
  });
  await setReady('b', false, '10.1.0.2');
  const found = await world.until('an address that is not ready', async () =>
    (await world.list<Endpoints>(endpoints)).find(({ subsets }) => subsets?.[0]?.notReadyAddresses?.length === 1),
  );
  expect(found.subsets?.[0]?.addresses?.map(({ ip }) => ip)).toEqual(['10.1.0.1']);
  expect(found.subsets?.[0]?.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
  await world.client.resource(pods, 'default').delete('a', { gracePeriodSeconds: 0 });
  await slicesWhen('only b', (now) => addresses(now).join() === '10.1.0.2');
  await world.client.resource(services, 'default').delete('web');
  await world.until('endpoints gone', async () => ((await world.list(endpoints)).length === 0 ? true : undefined));
  expect(world.complaints).toEqual([]);
});

test('a hundred endpoints fill a slice', async () => {
  await world.create(services, service({ clusterIP: 'None', clusterIPs: ['None'] }));
  for (let index = 0; index < 103; index++) await runPod(`p${index}`, `10.2.${index >> 7}.${(index & 127) + 1}`);
  const slices = await slicesWhen('all', (found) => addresses(found).length === 103);
  const sizes = slices.map((slice) => slice.endpoints?.length ?? 0).sort((a, b) => a - b);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
  expect(slices[0]?.metadata.labels?.['service.kubernetes.io/headless']).toBe('');
  expect(new Set(addresses(slices)).size).toBe(103);
});
