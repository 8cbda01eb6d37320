// Requests that are odd and answered all the same as upstream answers them: which of two refusals comes first, and what is written of odd objects.
// Found by test/interop/side-by-side/odd-requests.mjs, which asks upstream's apiserver and ours.
import { Agent, request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { generateKeyPair, privateKeyPem } from '#pki';
import { silentLogger } from '#utils';

let server: KubeApiServer;
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const core = '/api/v1/namespaces/default';

beforeAll(async () => {
  server = await runKubeApiServer(
    {
      ...defaultOptions(),
      securePort: 0,
      bindAddress: '127.0.0.1',
      tokenFile: 'admin,admin,1,system:masters\n',
      serviceAccountIssuers: ['https://kubernetes.default.svc'],
      serviceAccountSigningKey: privateKeyPem(generateKeyPair().privateKey),
    },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger },
  );
  await server.started;
});
afterAll(async () => {
  agent.destroy();
  await server?.close();
});

interface Answer {
  status: number;
  warning: string | undefined;
  body: { message?: string; details?: { causes?: { field?: string }[] }; metadata?: { managedFields?: unknown }; items?: Item[] };
}
interface Item {
  metadata: { name: string; managedFields?: { fieldsV1?: Record<string, unknown> }[] };
}

function ask(method: string, path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Answer> {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const all = {
      authorization: 'Bearer admin',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...headers,
    };
    httpsRequest({ port: server.wire.port, method, path, agent, headers: all }, (response) => {
      let said = '';
      response.on('data', (chunk: Buffer) => (said += chunk.toString()));
      response.on('end', () => {
        const { warning } = response.headers;
        resolve({
          status: response.statusCode ?? 0,
          warning: typeof warning === 'string' ? warning : undefined,
          body: (said.startsWith('{') ? JSON.parse(said) : { message: said }) as Answer['body'],
        });
      });
    })
      .on('error', reject)
      .end(text);
  });
}

it('an odd wish for a table is refused when the object was found, not before', async () => {
  const missing = await ask('GET', `${core}/configmaps/none?includeObject=Bad`, { accept: table });
  expect(missing.body.message).toBe('configmaps "none" not found');
  const all = await ask('GET', `${core}/configmaps?includeObject=Bad`, { accept: table });
  expect([all.status, all.body.message]).toEqual([400, expect.stringContaining('includeObject: Invalid value: "Bad"')]);
});

it.each(['pods/p/resize', 'pods/p/ephemeralcontainers'])('%s is no table', async (path) => {
  expect((await ask('GET', `${core}/${path}`, { accept: table })).status).toBe(406);
  expect((await ask('GET', `${core}/pods/p/status`, { accept: table })).status).toBe(404);
});

it('PUT of the status of a Service makes the Service, as PUT of itself does', async () => {
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'made' }, spec: { ports: [{ port: 80 }] } };
  expect((await ask('PUT', `${core}/services/made/status`, {}, service)).status).toBe(201);
  expect((await ask('GET', `${core}/services/made`)).status).toBe(200);
  const other = { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'made' }, spec: {} };
  expect((await ask('PUT', `${core}/replicationcontrollers/made/status`, {}, other)).status).toBe(404);
});

it('a resource version that is none stops a PUT also where it would create', async () => {
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'a', resourceVersion: 'None' },
    spec: {},
  };
  const answer = await ask('PUT', '/apis/coordination.k8s.io/v1/namespaces/default/leases/a', {}, lease);
  expect([answer.status, answer.body.message]).toEqual([500, 'strconv.ParseUint: parsing "None": invalid syntax']);
});

it('a list whose items have no keys leaves the object without managed fields', async () => {
  const account = (secrets: object[]) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' }, secrets });
  const path = `${core}/serviceaccounts?dryRun=All`;
  const keyed = await ask('POST', path, {}, account([{ name: 'c' }]));
  expect(keyed.body.metadata?.managedFields).toHaveLength(1);
  const keyless = await ask('POST', path, {}, account([{ uid: 'u' }, { name: 'c' }]));
  expect([keyless.status, keyless.body.metadata?.managedFields]).toEqual([201, undefined]);
});

it('YAML that holds no object fails like JSON, and text that is no YAML with the reader’s own words', async () => {
  const yaml = { 'content-type': 'application/yaml' };
  const scalar = await ask('POST', `${core}/configmaps`, yaml, 'x');
  expect(scalar.body.message).toContain("couldn't get version/kind; json parse error: json: cannot unmarshal string");
  const broken = await ask('POST', `${core}/configmaps`, yaml, 'a: [');
  expect(broken.body.message).not.toContain('json parse error');
});

it('a patch of no known type is refused before anything is said of the resource', async () => {
  const answer = await ask('PATCH', `${core}/endpoints/a`, {}, {});
  expect([answer.status, answer.warning]).toEqual([415, undefined]);
});

it('the rules of aggregated roles have no owner before somebody fills them in', async () => {
  const { body } = await ask('GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles');
  const owned = (body.items ?? []).filter(({ metadata }) => ['admin', 'edit', 'view'].includes(metadata.name));
  expect(owned).toHaveLength(3);
  for (const { metadata } of owned)
    expect(Object.keys(metadata.managedFields?.[0]?.fieldsV1 ?? {}).sort()).toEqual(['f:aggregationRule', 'f:metadata']);
});

it('a definition’s generated name is checked like its name', async () => {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { generateName: 'gen-' },
    spec: {},
  };
  const answer = await ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All', {}, definition);
  expect(answer.body.details?.causes?.map(({ field }) => field).slice(0, 2)).toEqual(['metadata.generateName', 'metadata.name']);
});

it('parameters that Go cannot read are left out', async () => {
  for (const query of ['labelSelector=a;b', 'labelSelector=%zz%28', 'limit=x;y'])
    expect((await ask('GET', `${core}/configmaps?${query}`)).status).toBe(200);
  expect((await ask('GET', `${core}/configmaps?labelSelector=%3Bb`)).status).toBe(400);
});

it('a watch from the present goes on from no token, and no object is exported', async () => {
  const watch = await ask('GET', `${core}/configmaps?watch=true&continue=x&timeoutSeconds=1`);
  expect([watch.status, watch.body.message]).toEqual([422, expect.stringContaining('forbidden when continue is provided')]);
  const exported = await ask('GET', '/api/v1/namespaces/default?export=true');
  expect([exported.status, exported.body.message]).toEqual([400, expect.stringContaining('is no longer supported')]);
  expect((await ask('GET', '/api/v1/namespaces/default?export=false')).status).toBe(200);
});
