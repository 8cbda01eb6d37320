// The life of a Service's load balancer, call by call, against the local server of the API.
import type { CloudProvider, LoadBalancer, Node, Service } from 'sagong/cloud-provider';
import { retryAfterOf } from 'sagong/cloud-provider';
import { rejection } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  nodeWith,
  openWorld,
  readSdk,
  sdkTimeoutMs,
  serviceWith,
  type TestCluster,
  testCluster,
  type TestWorld,
} from '../../test-server/world.ts';
import { pathOf } from '../../test-server/index.ts';
import { annotations } from '../annotations.ts';
import type { LoadBalancerRequest } from '../api/types.ts';

beforeAll(readSdk, sdkTimeoutMs);

const base = 'service.beta.kubernetes.io/do-loadbalancer-';
const defaultName = 'a5a0c5d2e111142228333944445555666'.slice(0, 32);
let world: TestWorld;
let cloud: CloudProvider;
let cluster: TestCluster;
const stop = new AbortController();

beforeEach(async () => {
  world = await openWorld();
  cluster = testCluster(serviceWith());
  cloud = await world.open();
  await cloud.initialize?.({ client: cluster.client, signal: stop.signal });
  world.server.requests.length = 0;
});
afterEach(() => world.close());

const balancers = (): LoadBalancer => cloud.loadBalancer as LoadBalancer;
const calls = (): string[] =>
  world.server.requests.splice(0).map((request) => `${request.method} ${pathOf(request).replace('/v2/', '')}`);
const ensure = (service: Service, nodes: readonly Node[]) => balancers().ensureLoadBalancer('kubernetes', service, nodes);
const machine = (name: string, options: Parameters<TestWorld['server']['account']['addDroplet']>[1] = {}): Node => {
  const { id } = world.server.account.addDroplet(name, options);
  return nodeWith(name, { '10.0.0.1': 'InternalIP', '192.0.2.1': 'ExternalIP' }, `digitalocean://${id}`);
};
/** The Service as the cluster has it by now. */
const current = (): Service => cluster.services.get('web') as Service;
const change = (service: Service): Service => {
  cluster.services.set('web', service);
  return service;
};
describe('a load balancer', () => {
  it('is made, waited for, set anew and deleted, found by the annotated id', async () => {
    const [a, b] = [machine('a'), machine('b')];
    const first = await rejection(ensure(current(), [a]));
    expect(first.message).toBe('load-balancer is currently being created');
    expect(retryAfterOf(first)).toBe(15_000);
    expect(calls()).toEqual(['GET load_balancers?page=1&per_page=50', 'POST load_balancers']);
    const made = world.server.account.loadBalancerNamed(defaultName);
    expect(cluster.patches).toEqual([
      {
        type: 'application/merge-patch+json',
        path: 'default/web',
        annotations: { [annotations.id]: made.id, [annotations.type]: 'REGIONAL_NETWORK' },
      },
    ]);
    expect(await ensure(current(), [a, b])).toEqual({ ingress: [{ ip: made.ip }] });
    expect(made.ip).toMatch(/^203\.0\./);
    expect(calls()).toEqual([`GET load_balancers/${made.id}`, `PUT load_balancers/${made.id}`]);
    expect(made.droplet_ids).toEqual([...world.server.account.droplets.keys()]);
    expect(cluster.patches).toHaveLength(1);
    await balancers().ensureLoadBalancerDeleted('kubernetes', current());
    await balancers().ensureLoadBalancerDeleted('kubernetes', current());
    expect(world.server.account.loadBalancers.size).toBe(0);
    expect(await balancers().getLoadBalancer('kubernetes', current())).toBeUndefined();
  });
  it('whose id was not written is found by name, although the id of one before it is annotated', async () => {
    const node = machine('a');
    const stale = serviceWith({ [annotations.id]: 'c0ffee00-0000-4000-8000-000000000002' });
    await rejection(ensure(stale, [node]));
    const made = world.server.account.loadBalancerNamed(defaultName);
    expect(await ensure(stale, [node])).toEqual({ ingress: [{ ip: made.ip }] });
    expect([...world.server.account.loadBalancers.keys()]).toEqual([made.id]);
    await balancers().ensureLoadBalancerDeleted('kubernetes', stale);
    expect(world.server.account.loadBalancers.size).toBe(0);
  });
  it('that was renamed in the control panel is still found by its id', async () => {
    const node = machine('a');
    await rejection(ensure(current(), [node]));
    world.server.account.loadBalancerNamed(defaultName).name = 'renamed';
    await ensure(current(), [node]);
    expect([...world.server.account.loadBalancers.values()].map(({ name }) => name)).toEqual([defaultName]);
  });
  it('with a name asked for later is found by its default name, over all pages, and renamed', async () => {
    const node = machine('a');
    await rejection(ensure(serviceWith(), [node]));
    const { loadBalancers } = world.server.account;
    const own = world.server.account.loadBalancerNamed(defaultName);
    loadBalancers.clear();
    for (let number = 0; number < 60; number++)
      loadBalancers.set(`other-${number}`, { ...own, id: `other-${number}`, name: `other-${number}` });
    loadBalancers.set(own.id, own);
    calls();
    await ensure(change(serviceWith({ [`${base}name`]: 'front' })), [node]);
    expect(calls().slice(0, 2)).toEqual(['GET load_balancers?page=1&per_page=50', 'GET load_balancers?page=2&per_page=50']);
    expect(world.server.account.loadBalancerNamed('front').droplet_ids).toHaveLength(1);
    expect(loadBalancers.size).toBe(61);
  });
  it('shows a host name instead of its address when it is told to', async () => {
    const service = change(serviceWith({ [annotations.hostname]: 'WWW.Example.com' }));
    await rejection(ensure(service, [machine('a')]));
    expect(await ensure(current(), [machine('b')])).toEqual({ ingress: [{ hostname: 'www.example.com' }] });
  });
  it('with both families shows both addresses', async () => {
    const service = change(serviceWith({ [annotations.type]: 'REGIONAL' }));
    await rejection(ensure(service, [machine('a')]));
    const status = await ensure(current(), [machine('b')]);
    expect(status.ingress?.map(({ ip }) => ip)).toEqual([expect.stringMatching(/^203\./), expect.stringMatching(/^2604:/)]);
  });
  it('keeps the rules of the type that it has, whatever is asked for later', async () => {
    const node = machine('a');
    await rejection(ensure(current(), [node]));
    const { forwarding_rules: before } = world.server.account.loadBalancerNamed(defaultName);
    await ensure(change(serviceWith({ [annotations.type]: 'REGIONAL', [annotations.protocol]: 'http' })), [node]);
    expect(world.server.account.loadBalancerNamed(defaultName)).toMatchObject({
      type: 'REGIONAL_NETWORK',
      forwarding_rules: before,
    });
    expect(current().metadata.annotations?.[annotations.type]).toBe('REGIONAL_NETWORK');
  });
  it('that is external is not taken for the internal one that is asked for later', async () => {
    await rejection(ensure(current(), [machine('a')]));
    const inside = change(serviceWith({ [annotations.network]: 'INTERNAL' }));
    const { message } = await rejection(ensure(inside, [machine('b'), machine('c')]));
    expect(message).toContain(`asks for INTERNAL, and load-balancer ${defaultName} is EXTERNAL`);
    expect(cluster.events).toMatchObject([{ reason: 'LoadBalancerConfigError' }]);
    expect(world.server.account.loadBalancerNamed(defaultName).droplet_ids).toHaveLength(2);
  });
  it('that went wrong says so', async () => {
    const node = machine('a');
    await rejection(ensure(current(), [node]));
    world.server.account.loadBalancerNamed(defaultName).status = 'errored';
    expect((await rejection(ensure(current(), [node]))).message).toBe('load-balancer has unexpected status "errored"');
  });
  it('of an own address asks for it only when it is made', async () => {
    const service = change(serviceWith({ [annotations.ip]: ' 198.51.100.7 ' }));
    await rejection(ensure(service, [machine('a')]));
    const status = await ensure(current(), [machine('b')]);
    expect(status.ingress).toEqual([{ ip: '198.51.100.7' }]);
    const sent = world.server.requests
      .filter(({ method }) => method !== 'GET')
      .map(({ body }) => (body as LoadBalancerRequest).ip);
    expect(sent).toEqual(['198.51.100.7', undefined]);
  });
  it('finds the droplets of nodes without a provider ID by name and by address, and goes on without the missing ones', async () => {
    const { account } = world.server;
    const [named, addressed] = [account.addDroplet('a'), account.addDroplet('b', { privateIp: '10.9.9.9' })];
    const nodes = ['a', '10.9.9.9', 'nobody'].map((name) => nodeWith(name, { '192.0.2.1': 'ExternalIP' }));
    await rejection(ensure(current(), nodes));
    expect(account.loadBalancerNamed(defaultName).droplet_ids).toEqual([named.id, addressed.id]);
  });
  it('is left alone when it is disowned', async () => {
    const disowned = {
      ...serviceWith({ [annotations.disown]: 'true' }),
      status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
    };
    expect(await ensure(disowned, [machine('a')])).toEqual({ ingress: [{ ip: '1.2.3.4' }] });
    await balancers().updateLoadBalancer('kubernetes', disowned, []);
    await balancers().ensureLoadBalancerDeleted('kubernetes', disowned);
    expect(calls()).toEqual([]);
    const unusable = serviceWith({ [annotations.disown]: 'perhaps' });
    expect((await rejection(ensure(unusable, []))).message).toContain('failed to get disown LB configuration setting');
  });
  it.each<[string, (id: string) => Record<string, string>]>([
    ['id', (id) => ({ [annotations.id]: id })],
    ['name', () => ({ [annotations.name]: 'front' })],
  ])('of another Service is neither taken over nor deleted by its %s, unless that one disowns it', async (_what, asking) => {
    const node = machine('a');
    const first = change(serviceWith({ [annotations.name]: 'front' }));
    await rejection(ensure(first, [node]));
    const status = { loadBalancer: await ensure(current(), [node]) };
    change({ ...current(), status });
    const { id } = world.server.account.loadBalancerNamed('front');
    const asks = serviceWith(asking(id));
    const second = {
      ...asks,
      metadata: {
        ...asks.metadata,
        name: 'second',
        uid: '99999999-8888-4777-8666-555555555555',
        creationTimestamp: '2000-01-01T00:00:00Z',
      },
    };
    cluster.services.set('second', second);
    const before = structuredClone(world.server.account.loadBalancerNamed('front'));
    const refused = `load-balancer front (${id}) is that of service default/web`;
    expect((await rejection(ensure(second, [machine('b')]))).message).toBe(refused);
    expect((await rejection(balancers().updateLoadBalancer('kubernetes', second, [node]))).message).toBe(refused);
    expect(await balancers().getLoadBalancer('kubernetes', second)).toBeUndefined();
    await balancers().ensureLoadBalancerDeleted('kubernetes', second);
    expect(world.server.account.loadBalancerNamed('front')).toEqual(before);

    const { metadata } = current();
    change({ ...current(), metadata: { ...metadata, annotations: { ...metadata.annotations, [annotations.disown]: 'true' } } });
    expect(await ensure(second, [node])).toEqual(status.loadBalancer);
  });
  it('cannot be updated before it was made', async () => {
    expect((await rejection(balancers().updateLoadBalancer('kubernetes', current(), []))).message).toBe('loadbalancer not found');
  });
  it('tells its name without a call', () => {
    expect(balancers().getLoadBalancerName('kubernetes', serviceWith())).toBe(defaultName);
    expect(balancers().getLoadBalancerName('kubernetes', serviceWith({ [annotations.name]: 'front' }))).toBe('front');
    expect(calls()).toEqual([]);
  });
});

describe('certificates', () => {
  const secure = (more: Record<string, string>): Service => change(serviceWith({ [annotations.type]: 'REGIONAL', ...more }));
  const certificateInUse = (): unknown => {
    const { forwarding_rules: rules } = world.server.account.loadBalancerNamed(defaultName);
    return (rules as { certificate_id: string }[]).map((rule) => rule.certificate_id);
  };
  const tls = { [annotations.tlsPorts]: '80' };

  it('are found by name', async () => {
    const { id } = world.server.account.addCertificate('web-cert');
    world.server.account.addCertificate('other');
    await rejection(ensure(secure({ ...tls, [annotations.certificateName]: 'web-cert' }), [machine('a')]));
    expect(certificateInUse()).toEqual([id]);
    const missing = secure({ ...tls, [annotations.certificateName]: 'nowhere' });
    expect((await rejection(ensure(missing, [machine('b')]))).message).toBe(
      'failed to build load-balancer request: certificate with name: "nowhere" not found',
    );
  });
  it("that Let's Encrypt renewed are followed, with the annotation", async () => {
    const { account } = world.server;
    const old = account.addCertificate('le', 'lets_encrypt');
    const node = machine('a');
    await rejection(ensure(secure({ ...tls, [annotations.certificateId]: old.id }), [node]));
    const renewed = account.addCertificate('le', 'lets_encrypt');
    const [rule] = account.loadBalancerNamed(defaultName).forwarding_rules as { certificate_id: string }[];
    if (rule) rule.certificate_id = renewed.id;
    account.certificates.delete(old.id);
    await ensure(current(), [node]);
    expect(certificateInUse()).toEqual([renewed.id]);
    expect(current().metadata.annotations?.[annotations.certificateId]).toBe(renewed.id);
  });
  it('that a person changed are set', async () => {
    const { account } = world.server;
    const [old, next] = [account.addCertificate('old', 'lets_encrypt'), account.addCertificate('next', 'lets_encrypt')];
    const node = machine('a');
    await rejection(ensure(secure({ ...tls, [annotations.certificateId]: old.id }), [node]));
    const changed = current();
    await ensure(change(serviceWith({ ...changed.metadata.annotations, [annotations.certificateId]: next.id })), [node]);
    expect(certificateInUse()).toEqual([next.id]);
    expect(current().metadata.annotations?.[annotations.certificateId]).toBe(next.id);
  });
});

describe('what goes wrong', () => {
  it('a refusal of the API is told in its words: a reserved port', async () => {
    const ports = [{ protocol: 'TCP', port: 50_053, nodePort: 30_053 }];
    const { message } = await rejection(ensure(change(serviceWith({}, { ports })), [machine('a')]));
    expect(message).toMatch(
      /^failed to create load-balancer: LoadBalancers\.Create: POST http:\/\/\S+\/v2\/load_balancers: 422 \(request "[0-9a-f-]{36}"\) entry port is invalid$/,
    );
  });
  it('a throttled call is repeated when the API allows it, wherever it happened', async () => {
    world.server.fail({ method: 'POST', status: 429, message: 'API rate limit exceeded.', headers: { 'retry-after': '29' } });
    const error = await rejection(ensure(current(), [machine('a')]));
    expect(error.message).toContain('429');
    expect(retryAfterOf(error)).toBe(29_000);
  });
  it('a configuration that a person must put right is an event', async () => {
    world.server.account.addDroplet('a');
    const hidden = nodeWith('a', { '10.0.0.1': 'InternalIP' });
    const { message } = await rejection(ensure(current(), [hidden]));
    expect(message).toMatch(/^failed to build load-balancer request: no eligible load balancer backends: /);
    expect(cluster.events).toMatchObject([
      {
        metadata: { name: expect.stringMatching(/^web\.[0-9a-f]+$/), namespace: 'default' },
        involvedObject: { kind: 'Service', name: 'web' },
        reason: 'LoadBalancerConfigError',
        type: 'Warning',
        source: { component: 'digitalocean-cloud-controller-manager' },
      },
    ]);
    expect(calls()).toEqual([]);
  });
  it('an annotation that cannot be written does not hide why there is no status yet', async () => {
    cluster.refusePatches = true;
    const error = await rejection(ensure(current(), [machine('a')]));
    expect(error.message).toBe(
      '[load-balancer is currently being created, failed to patch service object default/web: services is forbidden]',
    );
    expect(retryAfterOf(error)).toBe(15_000);
    cluster.refusePatches = false;
    await ensure(current(), [machine('b')]);
    expect(world.server.account.loadBalancers.size).toBe(1);
    expect(current().metadata.annotations?.[annotations.id]).toBe(world.server.account.loadBalancerNamed(defaultName).id);
  });
  it("a provider ID of another cloud's", async () => {
    const foreign = nodeWith('x', { '192.0.2.1': 'ExternalIP' }, 'aws:///eu-west-1a/i-1');
    expect((await rejection(ensure(current(), [foreign]))).message).toContain(
      'failed to parse provider ID "aws:///eu-west-1a/i-1": provider ID "aws:///eu-west-1a/i-1" is missing prefix "digitalocean://"',
    );
  });
});
