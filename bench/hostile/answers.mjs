// Servers of others that mean harm: webhooks of admission that a tenant's writes are shown to. Whoever may register one is an administrator, who may have
// been wrong about the program that he registered; other tenants' requests must not wait for it.
import { startAnswerer } from './lib/answerer.mjs';
import { repeat } from './lib/repeat.mjs';

const configurations = '/apis/admissionregistration.k8s.io/v1';
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
];
