// APIServices over the real apiserver: those of what is served here, of custom resources, and of other servers as far as they are looked at.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { APIService } from '#api/apiregistration/v1';
import type { Service } from '#api/core/v1';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { createClient, type KubeClient } from '#client';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';

const apiServices = { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' };
const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };
const services = { group: '', version: 'v1', resource: 'services' };
const slices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };

let server: KubeApiServer;
let client: KubeClient;
beforeAll(async () => {
  const options = { ...defaultOptions(), bindAddress: '127.0.0.1', securePort: 0 };
  server = await runKubeApiServer(options, { clock: systemClock(), rng: systemRng(), logger: silentLogger });
  await server.started;
  client = createClient(server.transport({ name: 'admin', groups: ['system:masters'] }));
});
afterAll(async () => {
  client.close();
  await server.close();
});

const availableOf = async (name: string): Promise<string> => {
  const { status } = await client.resource<APIService>(apiServices).get(name);
  const { status: available = '', reason = '', message = '' } = status?.conditions?.[0] ?? {};
  return `${available} ${reason}: ${message}`;
};
const namesOf = async (): Promise<string[]> =>
  (await client.resource(apiServices).list()).items.map(({ metadata }) => metadata.name ?? '');

it('has one for every group version of its own but the registration itself', async () => {
  const names = await namesOf();
  for (const name of ['v1.', 'v1.apps', 'v2.autoscaling', 'v1.storage.k8s.io']) {
    expect(names).toContain(name);
    expect(await availableOf(name)).toBe('True Local: Local APIServices are always available');
  }
  expect(names).not.toContain('v1.apiregistration.k8s.io');
});

it('has one for a custom group version as long as it is served', async () => {
  const version = (name: string, served: boolean) => ({
    name,
    served,
    storage: name === 'v1',
    schema: { openAPIV3Schema: { type: 'object' } },
  });
  const spec = { group: 'example.com', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' } };
  const versions = [version('v1', true), version('v2', false)];
  await client.resource(definitions).create({ metadata: { name: 'things.example.com' }, spec: { ...spec, versions } } as never);
  await expect.poll(() => availableOf('v1.example.com').catch(() => '')).toMatch(/^True Local/);
  expect(await namesOf()).not.toContain('v2.example.com');
  // What is deleted by mistake comes back; without the definition it goes for good.
  await client.resource(apiServices).delete('v1.example.com');
  await expect.poll(namesOf).toContain('v1.example.com');
  await client.resource(definitions).delete('things.example.com');
  await expect.poll(namesOf).not.toContain('v1.example.com');
});

it('says of another server what is missing', async () => {
  const spec = { group: 'metrics.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 100 };
  const service = { namespace: 'default', name: 'metrics', port: 443 };
  await client
    .resource<APIService>(apiServices)
    .create({ metadata: { name: 'v1.metrics.example.com' }, spec: { ...spec, insecureSkipTLSVerify: true, service } });
  const available = () => availableOf('v1.metrics.example.com');
  await expect.poll(available).toBe('False ServiceNotFound: service/metrics in "default" is not present');
  const ports = [{ name: 'https', port: 8443 }];
  const made = await client
    .resource<Service>(services, 'default')
    .create({ metadata: { name: 'metrics' }, spec: { selector: { app: 'm' }, ports } });
  await expect.poll(available).toBe('False ServicePortError: service/metrics in "default" is not listening on port 443');
  await client
    .resource<Service>(services, 'default')
    .update({ ...made, spec: { ...made.spec, ports: [{ name: 'https', port: 443 }] } });
  await expect.poll(available).toBe('False EndpointsNotFound: cannot find endpointslices for service/metrics in "default"');
  const labels = { 'kubernetes.io/service-name': 'metrics' };
  const slice = {
    metadata: { name: 'metrics-1', labels },
    addressType: 'IPv4',
    endpoints: [],
    ports: [{ name: 'https', port: 8443 }],
  };
  const empty = await client.resource(slices, 'default').create(slice as never);
  await expect
    .poll(available)
    .toBe('False MissingEndpoints: endpointslices for service/metrics in "default" have no addresses with port name "https"');
  const endpoints = [{ addresses: ['192.0.2.1'], conditions: { ready: true } }];
  await client.resource(slices, 'default').update({ ...empty, endpoints } as never);
  await expect.poll(available).toMatch(/^False FailedDiscoveryCheck/);
  const path = '/apis/metrics.example.com/v1/namespaces/default/things';
  expect(await client.transport.raw('GET', path)).toEqual({ status: 503, text: 'service unavailable\n' });
});
