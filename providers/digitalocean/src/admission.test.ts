import type { CloudWebhook, Service } from 'sagong/cloud-provider';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openWorld, readSdk, sdkTimeoutMs, serviceWith, settling, type TestWorld } from '../test-server/world.ts';
import { annotations } from './annotations.ts';

beforeAll(readSdk, sdkTimeoutMs);

let world: TestWorld;
let webhook: CloudWebhook;
beforeEach(async () => {
  world = await openWorld();
  const found = (await world.open({ clusterID: 'c1' })).webhooks?.['lb-service'];
  if (!found) throw new Error('no webhook');
  webhook = found;
});
afterEach(() => world.close());

const ask = async (object: unknown, oldObject?: unknown): Promise<string> => {
  const kind = { group: '', version: 'v1', kind: 'Service' };
  const resource = { group: '', version: 'v1', resource: 'services' };
  const { allowed, status } = await webhook.admit({
    uid: '1',
    kind,
    resource,
    operation: oldObject ? 'UPDATE' : 'CREATE',
    userInfo: {},
    object,
    ...(oldObject !== undefined && { oldObject }),
  });
  return `${allowed ? 'allowed' : 'denied'}: ${status?.message}`;
};
const writes = () => world.server.requests.filter(({ method }) => method !== 'GET');

describe('the webhook for load balancers', () => {
  it.each<[string, Service, string]>([
    ['another type', serviceWith({}, { type: 'NodePort' }), 'allowed: allowing service that is not a load balancer'],
    [
      'one that goes',
      { ...serviceWith(), metadata: { ...serviceWith().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      'allowed: allowing service that is being deleted',
    ],
    ['a good one', serviceWith(), 'allowed: valid load balancer definition'],
    ['IPv6 asked for before there are nodes', serviceWith({ [annotations.networkStack]: 'DUALSTACK' }), 'allowed: valid'],
    [
      'an annotation that cannot be used',
      serviceWith({ [annotations.type]: 'GLOBAL' }),
      'denied: failed to build DO API request: failed to build base load balancer request: only LB types supported are',
    ],
    [
      'what the API refuses',
      serviceWith({}, { ports: [{ protocol: 'TCP', port: 50_054, nodePort: 30_054 }] }),
      'denied: invalid load balancer definition: LoadBalancers.Validate: POST http',
    ],
  ])('answers %s', async (_name, service, expected) => {
    expect((await ask(service)).slice(0, expected.length)).toBe(expected);
    expect(world.server.account.loadBalancers.size).toBe(0);
  });
  it('has the API check changes of what exists, and only those that matter', async () => {
    const cloud = await world.open();
    if (!cloud.loadBalancer) throw new Error('no load balancers');
    await settling(cloud.loadBalancer).ensureLoadBalancer('kubernetes', serviceWith(), []);
    const [made] = world.server.account.loadBalancers.values();
    const old = serviceWith({ [annotations.id]: made?.id ?? '' });
    world.server.requests.length = 0;
    expect(await ask({ ...old, metadata: { ...old.metadata, labels: { a: 'b' } } }, old)).toBe(
      'allowed: new service has irrelevant changes',
    );
    expect(writes()).toEqual([]);
    const changed = { ...old, spec: { ...old.spec, ports: [{ protocol: 'TCP', port: 8080, nodePort: 30_080 }] } };
    expect(await ask(changed, old)).toBe('allowed: valid load balancer definition');
    expect(writes()).toMatchObject([
      { method: 'PUT', url: { pathname: `/v2/load_balancers/${made?.id}` }, body: { validate_only: true, region: 'nyc3' } },
    ]);
    expect(made?.forwarding_rules).toMatchObject([{ entry_port: 80 }]);
    expect(await ask(changed, serviceWith({ [annotations.type]: 'wrong' }))).toBe('allowed: valid load balancer definition');
  });
  it.each([500, 503, 429])('does not stand in the way when the API answers %i', async (status) => {
    world.server.fail({ method: 'POST', status });
    expect(await ask(serviceWith())).toMatch(/^allowed: .*to prevent blocking/);
  });
  it.each([500, 503, 429])(
    'does not stand in the way when a certificate is looked for and the API answers %i',
    async (status) => {
      world.server.fail({ path: /certificates/, status });
      const secure = serviceWith({ [annotations.type]: 'REGIONAL', [annotations.certificateName]: 'own' });
      expect(await ask(secure)).toMatch(/^allowed: .*to prevent blocking/);
    },
  );
  it('answers at once while the API wants to be left alone', async () => {
    world.server.fail({ method: 'POST', status: 429, headers: { 'retry-after': '300' } });
    expect(await ask(serviceWith())).toMatch(/^allowed: DO API is throttled/);
    expect(await ask(serviceWith())).toBe('allowed: valid load balancer definition');
  });
  it('rejects when it knows nothing', async () => {
    await expect(ask(undefined)).rejects.toThrow('failed to decode admission request');
    await ask(serviceWith());
    await world.server.close();
    await expect(ask(serviceWith())).rejects.toThrow('failed to get a response from DO API');
  });
});
