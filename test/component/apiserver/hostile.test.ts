// Bad input gets a 4xx with a proper Status and costs only its sender: malformed bodies, patches, selectors, credentials, sizes, and ten
// thousand seeded mutations of valid objects. The server must answer a good request after each batch.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { issueCertificate, createCertificateAuthority, generateKeyPair, privateKeyPem } from '#pki';
import { seededRng, silentLogger, type Rng } from '#utils';
import { createWireClient, type ClientTls, type WireClient } from '#wire';

const seed = 20260101;
const mutations = 10_000;
const authority = createCertificateAuthority({ commonName: 'test' });
const tlsOf = (ca: typeof authority, commonName: string, organizations: string[] = []): ClientTls => {
  const pair = issueCertificate({ ca, commonName, organizations, usages: ['client auth'] });
  return { cert: pair.cert, key: pair.key };
};

let server: KubeApiServer;
let admin: WireClient;
let anonymous: WireClient;
const clients: WireClient[] = [];

const clientWith = (tls: ClientTls): WireClient => {
  const client = createWireClient({ baseUrl: server.url, tls: { ca: server.ca, ...tls } });
  clients.push(client);
  return client;
};

beforeAll(async () => {
  server = await runKubeApiServer(
    {
      ...defaultOptions(),
      clientCa: authority.cert,
      serviceAccountSigningKey: privateKeyPem(generateKeyPair().privateKey),
      anonymousAuth: true,
    },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger },
  );
  await server.started;
  admin = clientWith(tlsOf(authority, 'admin', ['system:masters']));
  anonymous = clientWith({});
  await post('/api/v1/namespaces/default/serviceaccounts', '{"metadata":{"name":"default"}}');
  for (const [path, body] of Object.entries(valid)) expect((await post(path, JSON.stringify(body))).status).toBe(201);
});
afterAll(async () => {
  for (const client of clients) client.close();
  await server?.close();
});

interface Answer {
  status: number;
  body: { kind?: string; status?: string; code?: number; message?: string; reason?: string };
}

async function send(
  client: WireClient,
  method: string,
  path: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await client.request({
    method,
    path,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : { message: text } };
}
const post = (path: string, body: string | Buffer, type?: string): Promise<Answer> =>
  send(admin, 'POST', path, body, type ? { 'content-type': type } : {});

/** An object as the server encodes it. */
async function protobufOf(path: string): Promise<Buffer> {
  const response = await admin.request({ method: 'GET', path, headers: { accept: 'application/vnd.kubernetes.protobuf' } });
  return response.bytes();
}

function expectRefusal({ status, body }: Answer, about: string): void {
  expect(status, `${about}: ${JSON.stringify(body)}`).toBeGreaterThanOrEqual(400);
  // A 500 that is upstream's, too, has no reason; one that nobody expected has one.
  if (status >= 500) expect(body, about).not.toHaveProperty('reason');
  expect(body, about).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
}

const containers = [
  {
    name: 'c',
    image: 'busybox',
    ports: [{ containerPort: 80 }],
    env: [{ name: 'A', value: 'b' }],
    resources: { requests: { cpu: '100m' } },
  },
];
const template = { metadata: { labels: { app: 'x' } }, spec: { containers } };
/** Path -> an object that is accepted there. */
const valid: Record<string, Record<string, unknown>> = {
  '/api/v1/namespaces/default/pods': {
    metadata: { name: 'valid', labels: { app: 'x' } },
    spec: { serviceAccountName: '', automountServiceAccountToken: false, containers },
  },
  '/api/v1/namespaces/default/services': {
    metadata: { name: 'valid' },
    spec: { selector: { app: 'x' }, ports: [{ port: 80, targetPort: 'http' }] },
  },
  '/api/v1/namespaces/default/configmaps': { metadata: { name: 'valid' }, data: { a: 'b' } },
  '/api/v1/namespaces/default/secrets': { metadata: { name: 'valid' }, data: { a: 'Yg==' } },
  '/apis/apps/v1/namespaces/default/deployments': {
    metadata: { name: 'valid' },
    spec: { replicas: 1, selector: { matchLabels: { app: 'x' } }, template },
  },
  '/apis/rbac.authorization.k8s.io/v1/clusterroles': {
    metadata: { name: 'valid' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  },
  '/api/v1/nodes': { metadata: { name: 'valid', labels: { a: 'b' } }, spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } },
  '/apis/coordination.k8s.io/v1/namespaces/default/leases': {
    metadata: { name: 'valid' },
    spec: { holderIdentity: 'x', leaseDurationSeconds: 10 },
  },
};

describe('bad input', () => {
  it.each<[string, string | Buffer, string?]>([
    ['nothing', ''],
    ['no JSON', '{'],
    ['a list', '[]'],
    ['a word', 'null'],
    ['a number', '7'],
    ['binary', Buffer.from([0, 255, 1, 254])],
    ['deep nesting', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
    ['another kind', '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}'],
    ['an unknown kind', '{"apiVersion":"v9","kind":"Nonsense"}'],
    ['wrong types', '{"metadata":{"name":7},"spec":"x"}'],
    ['bad YAML', 'a: [', 'application/yaml'],
    ['YAML anchors', 'a: &a [*a, *a]', 'application/yaml'],
    ['no protobuf', 'k8s\u0000garbage', 'application/vnd.kubernetes.protobuf'],
    ['cut protobuf', Buffer.from('6b3873000a090a02763112035', 'hex'), 'application/vnd.kubernetes.protobuf'],
    ['an unknown media type', '{}', 'text/plain'],
  ])('refuses %s as a body', async (about, body, type) => {
    expectRefusal(await post('/api/v1/namespaces/default/pods', body, type), about);
  });

  it('refuses bodies over the limit', async () => {
    expectRefusal(
      await post('/api/v1/namespaces/default/configmaps', `{"metadata":{"name":"big"},"data":{"a":"${'x'.repeat(4_000_000)}"}}`),
      'oversize',
    );
  });

  it.each<[string, string, string]>([
    ['application/json-patch+json', 'no operations', '{"op":"add"}'],
    ['application/json-patch+json', 'an absent path', '[{"op":"remove","path":"/spec/nothing"}]'],
    ['application/json-patch+json', 'a bad operation', '[{"op":"explode","path":"/spec"}]'],
    ['application/merge-patch+json', 'no object', '[]'],
    ['application/merge-patch+json', 'another name', '{"metadata":{"name":"other"}}'],
    ['application/strategic-merge-patch+json', 'a bad directive', '{"spec":{"containers":[{"$patch":"explode","name":"c"}]}}'],
    ['application/strategic-merge-patch+json', 'a list without merge key', '{"spec":{"containers":[{"image":"x"}]}}'],
    ['application/apply-patch+yaml', 'no manager', '{"apiVersion":"v1","kind":"Pod"}'],
    ['application/nonsense', 'an unknown type', '{}'],
  ])('refuses as %s: %s', async (type, about, body) => {
    expectRefusal(await send(admin, 'PATCH', '/api/v1/namespaces/default/pods/valid', body, { 'content-type': type }), about);
  });

  it.each([
    'labelSelector=a%20in',
    'labelSelector=%3D%3D',
    'fieldSelector=nothing%3D1',
    'fieldSelector=metadata.name',
    'limit=-1',
    'continue=nonsense',
    'resourceVersion=x',
    'resourceVersionMatch=Exact',
    'watch=1&resourceVersion=-1',
  ])('refuses the parameters %s', async (query) => {
    const answer = await send(admin, 'GET', `/api/v1/pods?${query}`);
    if (answer.status === 200) expect(query).toMatch(/limit|watch/);
    else expectRefusal(answer, query);
  });

  it('refuses unknown and foreign credentials', async () => {
    const foreign = createCertificateAuthority({ commonName: 'somebody else' });
    const impostor = clientWith(tlsOf(foreign, 'admin', ['system:masters']));
    const answer = await send(impostor, 'GET', '/api/v1/nodes');
    expect([401, 403]).toContain(answer.status);
    for (const token of ['x', 'a.b.c', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.', 'ü', 'x'.repeat(7_000)])
      expectRefusal(
        await send(anonymous, 'GET', '/api/v1/nodes', undefined, { authorization: `Bearer ${encodeURIComponent(token)}` }),
        `token ${token.slice(0, 20)}`,
      );
  });

  it('gives anonymous nothing but health and version', async () => {
    for (const path of ['/healthz', '/livez', '/readyz', '/version'])
      expect((await send(anonymous, 'GET', path)).status, path).toBe(200);
    for (const path of ['/api', '/apis', '/api/v1/nodes', '/metrics', '/openapi/v3', '/'])
      expect([401, 403], path).toContain((await send(anonymous, 'GET', path)).status);
  });

  it('stays up through ten thousand mutated objects', { timeout: 300_000 }, async () => {
    const rng = seededRng(seed);
    const paths = Object.keys(valid);
    let refused = 0;
    const attempt = async (index: number): Promise<void> => {
      const path = paths[index % paths.length] ?? '';
      const body = JSON.stringify(mutate(structuredClone(valid[path]), rng));
      const answer = await post(path, body);
      if (answer.status < 300) return;
      refused += 1;
      expectRefusal(answer, `seed ${seed}, mutation ${index} of ${path}: ${body}`);
    };
    for (let from = 0; from < mutations; from += 32)
      await Promise.all(Array.from({ length: 32 }, (_, offset) => attempt(from + offset)));
    expect(refused).toBeGreaterThan(mutations / 10);
    expect((await send(admin, 'GET', '/readyz')).status).toBe(200);
  });

  it('stays up through mutated patches', { timeout: 180_000 }, async () => {
    const rng = seededRng(seed + 1);
    let refused = 0;
    for (let index = 0; index < 1_000; index++) {
      const [path, type, body] = pickFrom(rng, patches);
      const text = JSON.stringify(mutate(structuredClone(body), rng));
      const answer = await send(admin, 'PATCH', path, text, { 'content-type': type });
      if (answer.status < 300) continue;
      refused += 1;
      expectRefusal(answer, `seed ${seed}, patch ${index} of ${path} as ${type}: ${text}`);
    }
    expect(refused).toBeGreaterThan(100);
  });

  it('stays up through damaged protobuf', { timeout: 180_000 }, async () => {
    const rng = seededRng(seed + 2);
    const paths = Object.keys(valid);
    for (let index = 0; index < 1_000; index++) {
      const path = pickFrom(rng, paths);
      const bytes = await protobufOf(`${path}/valid`);
      for (let count = 1 + rng.int(4); count > 0; count--) bytes[4 + rng.int(bytes.length - 4)] = rng.int(256);
      const whole = rng.int(4) > 0 ? bytes : bytes.subarray(0, rng.int(bytes.length));
      const answer = await post(path, whole, 'application/vnd.kubernetes.protobuf');
      if (answer.status >= 300) expectRefusal(answer, `seed ${seed}, bytes ${index} of ${path}: ${whole.toString('hex')}`);
    }
  });
});

/** Valid patches of the objects made first. */
const patches: [path: string, type: string, body: unknown][] = [
  [
    '/api/v1/namespaces/default/pods/valid',
    'application/strategic-merge-patch+json',
    { spec: { containers: [{ name: 'c', image: 'other' }] } },
  ],
  ['/api/v1/namespaces/default/services/valid', 'application/merge-patch+json', { spec: { ports: [{ port: 81, name: 'a' }] } }],
  ['/api/v1/namespaces/default/configmaps/valid', 'application/json-patch+json', [{ op: 'add', path: '/data/b', value: 'c' }]],
  [
    '/apis/apps/v1/namespaces/default/deployments/valid?fieldManager=m&force=true',
    'application/apply-patch+yaml',
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'valid' }, spec: { replicas: 2, template } },
  ],
];

const strange: unknown[] = [
  null,
  '',
  ' ',
  0,
  -1,
  1.5,
  2 ** 53,
  true,
  [],
  {},
  [[]],
  { a: 1 },
  'ü\u0000',
  'x'.repeat(300),
  '../..',
  '-1m',
  '1e999',
  '9'.repeat(40),
  ['a', 'a'],
];
const names = ['metadata', 'spec', 'name', 'kind', 'apiVersion', 'labels', 'status', '__proto__', 'constructor', '', 'ü', 'a/b'];
const pickFrom = <T>(rng: Rng, list: readonly T[]): T => list[rng.int(list.length)] as T;

/** Changes one to three places: replaces, removes, adds, renames or repeats a value. */
function mutate(object: unknown, rng: Rng): unknown {
  for (let count = 1 + rng.int(3); count > 0; count--) {
    const places = placesOf(object);
    const place = places[rng.int(places.length)];
    if (!place) return pickFrom(rng, strange);
    const { holder, key } = place;
    const action = rng.int(5);
    if (action === 0) Reflect.deleteProperty(holder, key);
    else if (action === 1) Reflect.set(holder, pickFrom(rng, names), pickFrom(rng, strange));
    else if (action === 2 && Array.isArray(holder)) holder.push(holder[Number(key)]);
    else if (action === 3 && typeof holder[key as never] === 'string')
      Reflect.set(holder, key, garble(String(holder[key as never]), rng));
    else Reflect.set(holder, key, pickFrom(rng, strange));
  }
  return object;
}

function placesOf(value: unknown, found: { holder: Record<string, unknown> | unknown[]; key: string }[] = []): typeof found {
  if (typeof value !== 'object' || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push({ holder: value as Record<string, unknown>, key });
    placesOf((value as Record<string, unknown>)[key], found);
  }
  return found;
}

function garble(text: string, rng: Rng): string {
  const at = rng.int(text.length + 1);
  return text.slice(0, at) + String.fromCharCode(rng.int(0x300)) + text.slice(at + rng.int(2));
}
