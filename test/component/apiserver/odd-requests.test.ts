// Requests that are odd and answered all the same as upstream answers them: which of two refusals comes first, and what is written of odd objects.
// Found by test/interop/side-by-side/odd-requests.mjs, which asks upstream's apiserver and ours.
import { Agent, request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { KubeApiServer } from '#apiserver/app';
import { startApiServer } from '../../support/api-server.ts';

let server: KubeApiServer;
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const core = '/api/v1/namespaces/default';

beforeAll(async () => {
  server = await startApiServer();
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

const applied = { 'content-type': 'application/apply-patch+yaml' };

it('whoever applies an autoscaler in one version meets those who own its fields in the other', async () => {
  const spec = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'x', apiVersion: 'apps/v1' } };
  const apply = (version: string, manager: string, maxReplicas: number): Promise<Answer> => {
    const path = `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers/a?fieldManager=${manager}`;
    const object = { apiVersion: `autoscaling/${version}`, kind: 'HorizontalPodAutoscaler', metadata: { name: 'a' } };
    return ask('PATCH', path, applied, { ...object, spec: { ...spec, maxReplicas } });
  };
  expect((await apply('v2', 'one', 3)).status).toBe(201);
  const refused = await apply('v1', 'two', 7);
  expect([refused.status, refused.body.message]).toEqual([
    409,
    'Apply failed with 1 conflict: conflict with "one": .spec.maxReplicas',
  ]);
  const { body } = await apply('v1', 'two', 3);
  const owners = body.metadata?.managedFields as { manager: string; apiVersion: string }[];
  expect(owners.map(({ manager, apiVersion }) => `${manager} ${apiVersion}`).sort()).toEqual([
    'one autoscaling/v2',
    'two autoscaling/v1',
  ]);
});

it('an autoscaler without policies gets the default ones, with none it is refused', async () => {
  const path = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers?dryRun=All';
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
  const scaler = (scaleUp: object) => ({
    metadata: { name: 'rules' },
    spec: { scaleTargetRef, maxReplicas: 2, behavior: { scaleUp } },
  });
  expect((await ask('POST', path, {}, scaler({}))).status).toBe(201);
  const { status, body } = await ask('POST', path, {}, scaler({ policies: [] }));
  expect([status, body.message]).toEqual([
    422,
    expect.stringContaining('scaleUp.policies: Required value: must specify at least one Policy'),
  ]);
});

it('an event has no dependents to wait for', async () => {
  const event = { metadata: { name: 'e' }, involvedObject: { namespace: 'default' } };
  await ask('POST', `${core}/events`, {}, event);
  await ask('DELETE', `${core}/events/e`, {}, { propagationPolicy: 'Foreground' });
  expect((await ask('GET', `${core}/events/e`)).status).toBe(404);
});

it('what is applied is named only by text, and its metadata are a map', async () => {
  const apply = (body: object): Promise<Answer> =>
    ask(
      'PATCH',
      `${core}/configmaps/typed?fieldManager=me`,
      { 'content-type': 'application/apply-patch+yaml' },
      { apiVersion: 'v1', kind: 'ConfigMap', ...body },
    );
  const about = 'failed to create typed patch object (/; /v1, Kind=ConfigMap): ';
  expect((await apply({ metadata: '' })).body.message).toBe(`${about}.metadata: expected map, got &{}`);
  expect((await apply({ metadata: { name: 1 } })).body.message).toBe(
    `${about}.metadata.name: expected string, got &value.valueUnstructured{Value:1}`,
  );
});

it('of several values of another type a patch is told the first that upstream meets', async () => {
  const body = { metadata: { ownerReferences: [{ uid: 1, name: [], kind: {} }] } };
  const told = async (type: string): Promise<string> =>
    (await ask('PATCH', '/api/v1/namespaces/default?dryRun=All', { 'content-type': `application/${type}` }, body)).body.message ??
    '';
  expect(await told('merge-patch+json')).toContain(
    'json: cannot unmarshal object into Go struct field OwnerReference.metadata.ownerReferences.kind of type string',
  );
  expect(await told('strategic-merge-patch+json')).toMatch(/: unrecognized type: string$/);
});

it('what a refused patch would have made is shown as Go writes JSON', async () => {
  const body = { metadata: { annotations: { a: '<b> && c' }, labels: [] } };
  const { body: told } = await ask(
    'PATCH',
    '/api/v1/namespaces/default?dryRun=All',
    { 'content-type': 'application/merge-patch+json' },
    body,
  );
  expect(told.message).toContain(String.raw`\\u003cb\\u003e \\u0026\\u0026 c`);
});

it('unknown fields of a patched Scale are told in the order of the text', async () => {
  const labels = { app: 'scaled' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const path = '/apis/apps/v1/namespaces/default/deployments';
  await ask('POST', path, {}, { metadata: { name: 'scaled' }, spec: { selector: { matchLabels: labels }, template } });
  const { warning } = await ask(
    'PATCH',
    `${path}/scaled/scale?dryRun=All`,
    { 'content-type': 'application/merge-patch+json' },
    { spec: { zeta: 1, alpha: 2 } },
  );
  expect(warning).toBe('299 - "unknown field \\"spec.alpha\\"", 299 - "unknown field \\"spec.zeta\\""');
});

it('a signing request that is applied without one has none', async () => {
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests/none?fieldManager=me';
  const request = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: 'none' } };
  const { body } = await ask('PATCH', path, { 'content-type': 'application/apply-patch+yaml' }, request);
  expect(body.message).toContain('spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST');
});

it('an update or an apply of what is not there passes over its resource version, a create does not', async () => {
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'versioned', resourceVersion: '1' } };
  expect((await ask('POST', `${core}/configmaps`, {}, map)).status).toBe(500);
  expect((await ask('PATCH', `${core}/configmaps/versioned?fieldManager=me`, applied, map)).status).toBe(201);
  const role = { metadata: { name: 'versioned', resourceVersion: '1' } };
  expect((await ask('PUT', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/versioned', {}, role)).status).toBe(201);
});

it('an eviction’s options are those of a delete', async () => {
  await ask('POST', `${core}/serviceaccounts`, {}, { metadata: { name: 'default' } });
  const pod = { metadata: { name: 'evicted' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  expect((await ask('POST', `${core}/pods`, {}, pod)).status).toBe(201);
  const evict = (deleteOptions: object, query = '') =>
    ask('POST', `${core}/pods/evicted/eviction${query}`, {}, { metadata: { name: 'evicted' }, deleteOptions });
  const odd = await evict({ dryRun: ['Bad'], propagationPolicy: 'Bad' });
  expect([odd.status, odd.body.message]).toEqual([
    422,
    expect.stringMatching(/^DeleteOptions\.meta\.k8s\.io "" is invalid: \[propagationPolicy: /),
  ]);
  expect((await evict({ ignoreStoreReadErrorWithClusterBreakingPotential: true })).body.details?.causes?.[0]?.field).toBe(
    'deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential',
  );
  expect((await evict({ dryRun: ['All', 'All'] }, '?dryRun=All')).body.message).toBe(
    'Non-matching dry-run options in request and content: [All] and [All All]',
  );
  expect((await evict({ dryRun: ['All'] }, '?dryRun=All')).status).toBe(201);
  expect((await ask('GET', `${core}/pods/evicted`)).status).toBe(200);
});

it('what a quota counts is owned by the server', async () => {
  const hard = { 'count/secrets': '3' };
  await ask('POST', '/api/v1/namespaces', {}, { metadata: { name: 'counted' } });
  const quotas = '/api/v1/namespaces/counted/resourcequotas';
  await ask('POST', quotas, {}, { metadata: { name: 'q' }, spec: { hard } });
  await ask(
    'PATCH',
    `${quotas}/q/status`,
    { 'content-type': 'application/merge-patch+json' },
    { status: { hard, used: { 'count/secrets': '0' } } },
  );
  expect((await ask('POST', '/api/v1/namespaces/counted/secrets', {}, { metadata: { name: 's' } })).status).toBe(201);
  const { body } = await ask('GET', `${quotas}/q`);
  expect(body.metadata?.managedFields).toContainEqual(
    expect.objectContaining({
      manager: 'kube-apiserver',
      subresource: 'status',
      fieldsV1: { 'f:status': { 'f:used': { 'f:count/secrets': {} } } },
    }),
  );
});

const patched = { 'content-type': 'application/merge-patch+json' };
const job = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } };
const cron = { metadata: { name: 'c' }, spec: { schedule: `${'9'.repeat(20)} * * * *`, jobTemplate: { spec: job } } };
it.each([
  [
    'a number beyond 64 bits',
    'POST',
    '/apis/batch/v1/namespaces/default/cronjobs',
    {},
    cron,
    `parsing "${'9'.repeat(20)}": value out of range`,
  ],
  [
    'a fixed level',
    'PATCH',
    '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/catch-all',
    patched,
    { spec: { limited: { nominalConcurrencyShares: 9 } } },
    'spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":9,"LimitResponse":{"Type":"Reject","Queuing":null},"LendablePercent":0,"BorrowingLimitPercent":null},"Exempt":null}: spec of \'catch-all\' must equal',
  ],
  [
    'an address that is none, of two',
    'PATCH',
    `${core}/pods/evicted/status`,
    patched,
    { status: { podIP: '1.2.3.4', podIPs: [{ ip: '1.2.3.4' }, { ip: 'x' }] } },
    'status.podIPs: Internal error: failed to check for dual stack with error:invalid IP[1]: x',
  ],
])('%s is refused in upstream’s words', async (_name, method, path, headers, body, words) => {
  const answer = await ask(method, path, headers, body);
  expect([answer.status, answer.body.message]).toEqual([422, expect.stringContaining(words)]);
});

it('a Service whose address cannot be claimed is told so as one without an address', async () => {
  const service = { metadata: { name: '..' }, spec: { ports: [{ port: 80 }] } };
  const { status, body } = await ask('POST', `${core}/services`, {}, service);
  expect([status, body.message]).toEqual([
    422,
    expect.stringMatching(
      /^Service "\.\." is invalid: spec\.clusterIPs: Invalid value: \[""\]: failed to allocate IP: IPAddress/,
    ),
  ]);
});

// A year of more than four digits is none to Go: every client that lists or watches pods would fail at it.
it.each([8_639_999_999_999, 10 ** 12, 2 ** 53, 2 ** 62])(
  'a pod with a grace of %i seconds goes like any other',
  async (grace) => {
    const pods = `${core}/pods`;
    const spec = { nodeName: 'n', terminationGracePeriodSeconds: grace, containers: [{ name: 'c', image: 'i' }] };
    await vi.waitFor(
      async () => expect((await ask('POST', pods, {}, { metadata: { name: 'patient' }, spec })).status).toBe(201),
      20_000,
    );
    for (const options of [{}, { gracePeriodSeconds: 10 ** 11 }, { gracePeriodSeconds: 30 }, { gracePeriodSeconds: -1 }]) {
      const { status, body } = await ask('DELETE', `${pods}/patient`, {}, options);
      expect([status, body.metadata]).toEqual([
        200,
        expect.objectContaining({ deletionTimestamp: expect.stringMatching(/^\d{4}-/) }),
      ]);
    }
    expect((await ask('DELETE', `${pods}/patient`, {}, { gracePeriodSeconds: 0 })).status).toBe(200);
    expect((await ask('GET', `${pods}/patient`)).status).toBe(404);
  },
);

it('an option of deletions that is off by default has no rivals', async () => {
  const options = { ignoreStoreReadErrorWithClusterBreakingPotential: true, gracePeriodSeconds: 1 };
  expect((await ask('DELETE', `${core}/configmaps/none`, {}, options)).status).toBe(404);
});

it('a new CSIDriver has no generation, whatever version it states, and its first change is the first', async () => {
  const drivers = '/apis/storage.k8s.io/v1/csidrivers';
  const made = await ask(
    'POST',
    drivers,
    {},
    { metadata: { name: 'example.com', resourceVersion: '0' }, spec: { attachRequired: false } },
  );
  expect([made.status, made.body.metadata]).toEqual([
    201,
    expect.not.objectContaining({ generation: expect.anything() as unknown }),
  ]);
  const patch = { 'content-type': 'application/merge-patch+json' };
  const changed = await ask('PATCH', `${drivers}/example.com`, patch, { spec: { requiresRepublish: true } });
  expect(changed.body.metadata).toMatchObject({ generation: 1 });
});
