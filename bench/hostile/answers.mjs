// Servers of others that mean harm: webhooks of admission that a tenant's writes are shown to, and API servers behind an APIService. Whoever may register one is an administrator, who may have
// been wrong about the program that he registered; other tenants' requests must not wait for it.
import { startAnswerer } from './lib/answerer.mjs';
import { repeat } from './lib/repeat.mjs';

const configurations = '/apis/admissionregistration.k8s.io/v1';
const things = '/apis/bad.example.com/v1/namespaces/default/r0';
const own = '/api/v1/namespaces/tenant/configmaps';

async function registered(target, type, behaviour) {
  const { url, caBundle } = await startAnswerer(target, behaviour);
  const webhook = {
    ...{ name: 'a.example.com', clientConfig: { url: `${url}/a`, caBundle }, sideEffects: 'None', timeoutSeconds: 2 },
    ...{ failurePolicy: 'Fail', admissionReviewVersions: ['v1'], matchPolicy: 'Equivalent' },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'], scope: '*' }],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'tenant' } },
  };
  const path = `${configurations}/${type.toLowerCase()}webhookconfigurations`;
  const body = { metadata: { name: 'a' }, webhooks: [webhook] };
  const { status, text } = await target.ask('POST', path, body, { token: target.adminToken });
  if (status !== 201) throw new Error(`no webhook: ${status} ${text}`);
}

const writing = repeat(
  (at, { tenantToken: token }) => ({ path: own, body: { metadata: { generateName: 'a-' }, data: { a: String(at) } }, token }),
  { atOnce: 8 },
);
const webhook = (type, behaviour) => ({
  name: `webhook (${type.toLowerCase()}), ${behaviour}`,
  prepare: (target) => registered(target, type, behaviour),
  run: writing,
});

/** An API server for bad.example.com, and what a tenant may do there: all. Resolves when it is taken for available, or is not after some seconds. */
async function aggregated(target, behaviour) {
  const { port } = await startAnswerer(target, behaviour);
  const options = { token: target.adminToken };
  const put = async (path, body) => {
    const { status, text } = await target.ask('POST', path, body, options);
    if (status !== 201) throw new Error(`${path}: ${status} ${text}`);
  };
  const everything = [{ apiGroups: ['bad.example.com'], resources: ['*'], verbs: ['*'] }];
  await put('/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name: 'bad' }, rules: everything });
  await put('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'bad' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'bad' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'tenant' }],
  });
  const spec = { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] };
  await put('/api/v1/namespaces/default/services', { metadata: { name: 'bad' }, spec });
  await put('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1.bad.example.com' },
    spec: {
      ...{ group: 'bad.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 100 },
      ...{ insecureSkipTLSVerify: true, service: { namespace: 'default', name: 'bad', port } },
    },
  });
  await new Promise((done) => setTimeout(done, 3_000));
}

const reading = repeat((at, { tenantToken: token }) => ({ method: 'GET', path: things, token, timeoutMs: 3_000 }), { atOnce: 8 });
/** What is about discovery is asked for by the server itself; documents are asked for, so that they are made. */
const documents = repeat(
  (at, { tenantToken: token }) => ({
    method: 'GET',
    path: ['/openapi/v2', '/openapi/v3', '/apis', '/apis/bad.example.com/v1'][at % 4],
    token,
  }),
  { atOnce: 4 },
);
const touched = async (target) => {
  const merge = { token: target.adminToken, contentType: 'application/merge-patch+json' };
  const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1.bad.example.com';
  const until = performance.now() + target.seconds * 1_000;
  const touching = async () => {
    for (let at = 1; performance.now() < until; at++) {
      await target.ask('PATCH', path, { spec: { versionPriority: 100 + (at % 100) } }, merge);
      await new Promise((done) => setTimeout(done, 500));
    }
  };
  await Promise.all([touching(), documents(target)]);
};
const server = (behaviour, run) => ({
  name: `API server, ${behaviour}`,
  prepare: (target) => aggregated(target, behaviour),
  run,
});

/** Upgraded connections on which nobody says anything: they go when their clients do. */
async function upgrades(target) {
  for (let at = 0; at < 200; at++) {
    const socket = await target.clients.openTls();
    const head = `GET ${things} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${target.tenantToken}\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n`;
    socket.write(head);
  }
  await new Promise((done) => setTimeout(done, target.seconds * 1_000));
}

export default [
  ...[
    'a patch of 100,000 operations',
    'a patch that adds 40,000 keys',
    'a patch that adds a text of 7 MB',
    'a patch of 3,000,000 levels',
    'a patch that copies its copies',
    'a patch with 10,000 labels',
    'an answer of 4,000,000 levels',
    'an answer of 1,000,000 values',
    '100,000 warnings',
    '100,000 audit annotations',
    '100,000 causes of a refusal',
    'a refusal of 9 MB',
    'a warning of 9 MB',
    'a patch that does not fit, of 7 MB',
  ].map((behaviour) => webhook('Mutating', behaviour)),
  ...[
    'one byte a piece, without an end',
    'pieces with long extensions',
    'a body without an end',
    'headers without an end',
    'informational answers without an end',
    'trailers without an end',
    'answers that nobody asked for',
    'a byte a second',
    'silence',
    'half an answer and the end',
    'a switch of protocols',
    'a redirect to itself',
    'an error of 9 MB',
  ].map((behaviour) => webhook('Validating', behaviour)),
  ...['discovery of 15,000 resources', 'discovery of 500,000 levels', 'OpenAPI of 20,000 paths', 'OpenAPI of 560,000 values'].map(
    (behaviour) => server(behaviour, touched),
  ),
  ...[
    'a list of 200,000 things',
    'a list of 8,000,000 levels',
    'things, one byte a piece, without an end',
    'things without an end',
    'events without an end',
    'things with 900 headers',
    'a switch of protocols that was not asked for',
    'things that redirect',
    'things that stop in the middle',
  ].map((behaviour) => server(behaviour, reading)),
  { ...server('things that stop in the middle', upgrades), name: 'API server, 200 upgrades that never end' },
];
