// Another API server behind ours: requests, watches and upgraded connections handed on, discovery and OpenAPI merged, and what is seen when it
// is gone.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { APIService } from '#api/apiregistration/v1';
import type { KubeObject } from '#apimachinery/meta';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { createClient, type KubeClient } from '#client';
import { systemClock, systemRng } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { silentLogger } from '#utils';
import { createWireClient, type WireClient } from '#wire';
import { type ExtensionServer, metricsGroup, startExtensionServer } from './extension-server.ts';

const name = `v1.${metricsGroup}`;
const gauges = { group: metricsGroup, version: 'v1', resource: 'gauges' };
const path = `/apis/${metricsGroup}/v1/namespaces/default/gauges`;
const ca = createCertificateAuthority({ commonName: 'extensions' });
const proxyCa = createCertificateAuthority({ commonName: 'front-proxy-ca' });
const serving = issueCertificate({ ca, commonName: 'm', dnsNames: ['metrics.default.svc'], usages: ['server auth'] });

let server: KubeApiServer;
let client: KubeClient;
let wire: WireClient;
let extension: ExtensionServer;

beforeAll(async () => {
  const requestHeader = {
    ca: proxyCa.cert,
    allowedNames: ['front-proxy-client'],
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: ['X-Remote-Uid'],
    groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  };
  const proxyClient = issueCertificate({ ca: proxyCa, commonName: 'front-proxy-client', usages: ['client auth'] });
  const options = { ...defaultOptions(), requestHeader, proxyClient };
  server = await runKubeApiServer(options, { clock: systemClock(), rng: systemRng(), logger: silentLogger });
  await server.started;
  client = createClient(server.transport({ name: 'admin', groups: ['system:masters'] }));
  wire = createWireClient({ baseUrl: server.url, tls: { ca: server.ca ?? '' } });
  extension = await startExtensionServer({ ...serving, proxyCa: proxyCa.cert, client });
  const { port } = extension;
  await client.resource({ group: '', version: 'v1', resource: 'services' }, 'default').create({
    metadata: { name: 'metrics' },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
  } as never);
  await client.resource({ group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' }).create({
    metadata: { name },
    spec: {
      group: metricsGroup,
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      caBundle: Buffer.from(ca.cert).toString('base64'),
      service: { namespace: 'default', name: 'metrics', port },
    },
  } as never);
});
afterAll(async () => {
  client.close();
  wire.close();
  await extension.close();
  await server.close();
});

async function available(): Promise<string> {
  const of = { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' };
  const { status } = await client.resource<APIService>(of).get(name);
  const { status: is = '', reason = '', message = '' } = status?.conditions?.[0] ?? {};
  return `${is} ${reason}: ${message}`;
}
const headers = (more: Record<string, string | string[]> = {}) => ({ authorization: `Bearer ${server.loopbackToken}`, ...more });
const ask = async (target: string, more?: Record<string, string | string[]>) => {
  const answer = await wire.request({ path: target, headers: headers(more) });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

it('is available once it answers', async () => {
  await expect.poll(available).toBe('True Passed: all checks passed');
});

describe('a request', () => {
  it('goes on as the user, without the user’s credentials', async () => {
    extension.seen.length = 0;
    const { status, text } = await ask(`${path}/a?b=2&a=1`, { 'x-remote-user': 'mallory', 'x-remote-extra-x': 'y' });
    expect([status, JSON.parse(text)]).toMatchObject([200, { kind: 'Gauge', metadata: { name: 'a' } }]);
    const [seen] = extension.seen.filter(({ url }) => url.startsWith(path));
    expect(seen).toMatchObject({ proxy: 'front-proxy-client', url: `${path}/a?a=1&b=2` });
    expect(seen?.headers).toMatchObject({
      'x-remote-user': 'system:apiserver',
      'x-remote-group': expect.stringContaining('system:masters') as string,
      'x-forwarded-uri': `${path}/a`,
      'x-forwarded-for': '127.0.0.1',
      host: `localhost:${extension.port}`,
    });
    expect(seen?.headers.authorization).toBeUndefined();
    expect(seen?.headers['x-remote-extra-x']).toBeUndefined();
    expect(seen?.headers['audit-id']).toMatch(/-/);
  });

  it('is authorized here first, and there by asking back', async () => {
    extension.seen.length = 0;
    const jane = { 'impersonate-user': 'jane', 'impersonate-extra-team%2Fone': 'blue' };
    const refused = await ask(path, jane);
    expect(JSON.parse(refused.text)).toMatchObject({ code: 403, reason: 'Forbidden', details: { group: metricsGroup } });
    expect(extension.seen.filter(({ url }) => url.startsWith(path))).toEqual([]);
    const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' };
    const rules = [{ apiGroups: [metricsGroup], resources: ['gauges'], verbs: ['list'] }];
    await client.resource({ ...rbac, resource: 'clusterroles' }).create({ metadata: { name: 'g' }, rules } as never);
    await client.resource({ ...rbac, resource: 'clusterrolebindings' }).create({
      metadata: { name: 'g' },
      roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'g' },
      subjects: [{ apiGroup: rbac.group, kind: 'User', name: 'jane' }],
    } as never);
    // Here it is a list, there it was asked about as a get.
    const asked = await ask(path, jane);
    expect([asked.status, asked.text]).toEqual([403, expect.stringContaining('asked back: no')]);
    expect(extension.seen.at(-1)?.headers).toMatchObject({ 'x-remote-user': 'jane', 'x-remote-extra-team%2fone': 'blue' });
  });

  it('may have a body, and is not led elsewhere', async () => {
    const body = JSON.stringify({ kind: 'Gauge', big: 'x'.repeat(200_000) });
    const made = await wire.request({ method: 'POST', path, headers: headers({ 'content-type': 'application/json' }), body });
    expect([made.status, await made.text()]).toEqual([201, body]);
    const moved = await ask(`${path}/moved`);
    expect([moved.status, moved.text]).toEqual([502, 'the backend attempted to redirect this request, which is not permitted']);
  });

  it('to watch is answered event by event', async () => {
    const watch = await wire.request({ path: `${path}?watch=true`, headers: headers() });
    for (const at of [1, 2]) {
      const event = { type: 'ADDED', object: { metadata: { name: `n${at}` } } };
      extension.emit(event);
      const [chunk] = (await once(watch.body, 'data')) as [Buffer];
      expect(JSON.parse(chunk.toString())).toEqual(event);
    }
    watch.body.destroy();
  });

  it('to upgrade becomes a connection, or the refusal', async () => {
    const upgraded = await wire.upgrade({ path: `${path}/a/exec`, headers: headers({ connection: 'Upgrade', upgrade: 'echo' }) });
    upgraded.socket.write('ping');
    expect(String((await once(upgraded.socket, 'data'))[0])).toBe('ping');
    expect(extension.seen.at(-1)?.headers).toMatchObject({ 'x-remote-user': 'system:apiserver' });
    upgraded.socket.destroy();
    const refused = wire.upgrade({ path: `${path}/refuse/exec`, headers: headers({ connection: 'Upgrade', upgrade: 'echo' }) });
    await expect(refused).rejects.toMatchObject({ status: 409, body: Buffer.from('busy') });
  });

  it('of a component in this process goes the same way', async () => {
    const list = await client.resource<KubeObject>(gauges, 'default').list();
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    const events: string[] = [];
    const watch = await client.transport.watch({ ...gauges, namespace: 'default' });
    watch.subscribe(
      ({ type }) => void events.push(type),
      () => {},
    );
    extension.emit({ type: 'DELETED', object: { metadata: {} } });
    await expect.poll(() => events).toEqual(['DELETED']);
    watch.stop();
  });
});

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
interface Discovered {
  metadata: { name?: string };
  versions: { freshness: string; resources?: { resource: string; subresources?: { subresource: string }[] }[] }[];
}
const discovered = async (): Promise<Discovered | undefined> => {
  const { items } = JSON.parse((await ask('/apis', { accept })).text) as { items: Discovered[] };
  return items.find(({ metadata }) => metadata.name === metricsGroup);
};

it('merges discovery', async () => {
  const groups = (JSON.parse((await ask('/apis')).text) as { groups: { name: string }[] }).groups.map((group) => group.name);
  expect([groups[0], groups.at(-1)]).toEqual(['apiregistration.k8s.io', metricsGroup]);
  expect(JSON.parse((await ask(`/apis/${metricsGroup}`)).text)).toMatchObject({ kind: 'APIGroup', name: metricsGroup });
  await expect.poll(async () => (await discovered())?.versions[0]?.freshness).toBe('Current');
  const [found] = (await discovered())?.versions ?? [];
  expect(found?.resources).toMatchObject([{ resource: 'gauges', subresources: [{ subresource: 'exec' }] }]);
});

it('merges OpenAPI, renaming what is called the same', async () => {
  interface Spec {
    paths: Record<string, unknown>;
    definitions: Record<string, { properties: Record<string, unknown> }>;
  }
  const spec = async () => JSON.parse((await ask('/openapi/v2')).text) as Spec;
  await expect.poll(async () => 'com.example.Gauge' in (await spec()).definitions).toBe(true);
  const { paths, definitions } = await spec();
  expect(Object.keys(paths)).toContain('/apis/metrics.example.com/v1/namespaces/{namespace}/gauges');
  expect(definitions['com.example.Gauge']?.properties['metadata']).toEqual({
    $ref: '#/definitions/io.k8s.api.core.v1.PodSpec_v2',
  });
  expect(definitions['io.k8s.api.core.v1.PodSpec_v2']?.properties).toEqual({ odd: { type: 'string' } });
  expect(definitions['com.example.Unused']).toBeUndefined();
  const packed = await ask('/openapi/v2', { accept: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' });
  expect([packed.status, packed.text.includes('com.example.Gauge')]).toEqual([200, true]);
  const index = JSON.parse((await ask('/openapi/v3')).text) as { paths: Record<string, { serverRelativeURL: string }> };
  const document = index.paths[`apis/${metricsGroup}/v1`]?.serverRelativeURL ?? '';
  expect(document).toContain('?hash=');
  expect(JSON.parse((await ask(document)).text)).toMatchObject({
    openapi: '3.0.0',
    components: { schemas: { 'com.example.Gauge': { type: 'object' } } },
  });
});

it('says when the other server is gone', async () => {
  const { port } = extension;
  await extension.close();
  const reach = await ask(path);
  expect([reach.status, reach.text]).toEqual([
    503,
    `error trying to reach service: dial tcp localhost:${port}: connect: connection refused\n`,
  ]);
  expect(reach.headers['content-type']).toBe('text/plain; charset=utf-8');
  // A change of the Service is a reason to look again.
  const patch = { type: 'application/merge-patch+json' as const, body: { metadata: { labels: { a: 'b' } } } };
  const services = { group: '', version: 'v1', resource: 'services', namespace: 'default' };
  await client.transport.call({ ...services, verb: 'patch', name: 'metrics', patch });
  const url = `https://localhost:${port}/apis/${metricsGroup}/v1`;
  const message = `failing or missing response from ${url}: Get "${url}": dial tcp localhost:${port}: connect: connection refused`;
  await expect.poll(available).toBe(`False FailedDiscoveryCheck: ${message}`);
  await expect.poll(async () => (await ask(path)).text).toBe('service unavailable\n');
  await expect.poll(discovered).toMatchObject({ versions: [{ version: 'v1', freshness: 'Stale' }] });
  await expect(client.resource(gauges, 'default').list()).rejects.toMatchObject({ status: { code: 503 } });
  extension = await startExtensionServer({ ...serving, proxyCa: proxyCa.cert, client });
});
