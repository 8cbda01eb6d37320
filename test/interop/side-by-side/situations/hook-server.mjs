// A webhook whose path says what it answers: the same for both servers, so that only they can differ. What a review asks for is kept, for comparing.
import { once } from 'node:events';
import { createServer } from 'node:https';
import { createCertificateAuthority, issueCertificate } from '#pki';

const patched = (operations) => ({ allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') });
const label = { op: 'add', path: '/metadata/labels', value: { hooked: 'yes' } };

/** What the last part of the path answers to a review. */
const answers = {
  allow: () => ({ allowed: true }),
  deny: () => ({ allowed: false }),
  'deny-message': () => ({ allowed: false, status: { message: 'not today' } }),
  'deny-code': () => ({ allowed: false, status: { message: 'pay first', code: 402, reason: 'PaymentRequired', details: { name: 'x', causes: [{ field: 'spec', message: 'm', reason: 'FieldValueInvalid' }] } } }),
  'deny-success': () => ({ allowed: false, status: { status: 'Success', code: 200, message: 'odd' } }),
  'deny-reason': () => ({ allowed: false, status: { reason: 'Forbidden' } }),
  warn: () => ({ allowed: true, warnings: ['first', `second ${'x'.repeat(300)}`, '', 'third\nline', 'third "quoted"'] }),
  'warn-deny': () => ({ allowed: false, warnings: ['look out'], status: { message: 'no' } }),
  audit: () => ({ allowed: true, auditAnnotations: { key: 'value', 'bad key': 'x' } }),
  label: () => patched([label]),
  'label-more': () => patched([{ op: 'add', path: '/metadata/annotations', value: { more: 'yes' } }]),
  image: () => patched([{ op: 'replace', path: '/spec/containers/0/image', value: 'hooked' }]),
  data: () => patched([{ op: 'add', path: '/data/hooked', value: 'yes' }]),
  'bad-value': () => patched([{ op: 'add', path: '/metadata/labels', value: { 'Bad Key!': 'x' } }]),
  'wrong-type': () => patched([{ op: 'add', path: '/metadata/labels', value: 5 }]),
  'unknown-field': () => patched([{ op: 'add', path: '/unknown', value: 5 }]),
  'absent-path': () => patched([{ op: 'replace', path: '/metadata/labels/nothing/here', value: 'x' }]),
  'no-such-op': () => patched([{ op: 'fly', path: '/metadata' }]),
  rename: () => patched([{ op: 'replace', path: '/metadata/name', value: 'renamed' }]),
  renamespace: () => patched([{ op: 'replace', path: '/metadata/namespace', value: 'elsewhere' }]),
  kind: () => patched([{ op: 'replace', path: '/kind', value: 'Secret' }]),
  version: () => patched([{ op: 'replace', path: '/apiVersion', value: 'v2' }]),
  'not-json': () => ({ allowed: true, patchType: 'JSONPatch', patch: Buffer.from('x').toString('base64') }),
  'not-base64': () => ({ allowed: true, patchType: 'JSONPatch', patch: '!!' }),
  'no-patch-type': () => ({ ...patched([label]), patchType: undefined }),
  'merge-patch': () => ({ ...patched([label]), patchType: 'MergePatch' }),
  'type-without-patch': () => ({ allowed: true, patchType: 'JSONPatch' }),
  'patch-deny': () => ({ ...patched([label]), allowed: false }),
  'other-uid': () => ({ allowed: true, uid: 'other' }),
  empty: () => ({}),
  'only-deny-deletes': ({ operation }) => ({ allowed: operation !== 'DELETE', status: { message: `no ${operation}` } }),
  'once': ({ object }) => (object?.metadata?.labels?.hooked ? { allowed: false, status: { message: 'twice' } } : patched([label])),
};
const raw = {
  'raw-500': [500, 'broken'], 'raw-404': [404, '{"kind":"Status","message":"gone"}'], 'raw-text': [200, 'hello'], 'raw-empty': [200, ''], 'raw-null': [200, 'null'], 'raw-pod': [200, '{"apiVersion":"v1","kind":"Pod"}'], 'raw-v1beta1': [200, '{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","response":{"allowed":true}}'],
  'raw-no-response': [200, '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}'], 'raw-no-kind': [200, '{"response":{"allowed":true}}'], 'raw-redirect': [302, ''], 'raw-wrong-types': [200, '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"allowed":"yes"}}'],
};
export const mutating = Object.keys(answers);
export const validating = ['allow', 'deny', 'deny-message', 'deny-code', 'deny-success', 'deny-reason', 'warn', 'warn-deny', 'audit', 'label', 'other-uid', 'empty', 'only-deny-deletes', 'merge-patch'];
export const broken = Object.keys(raw);

/** Starts it: `{ url(side, name), reviews, caBundle, close }`. */
export async function hookServer() {
  const authority = createCertificateAuthority({ commonName: 'hooks' });
  const { cert, key } = issueCertificate({ ca: authority, commonName: 'hook', usages: ['digital signature', 'key encipherment', 'server auth'], ips: ['127.0.0.1'] });
  const reviews = [[], []];
  const server = createServer({ cert, key }, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    // Who hung up before the body ended waits for no answer.
    if (body === '') return response.writeHead(400).end();
    const [, side, name] = request.url.split('?')[0].split('/');
    const review = JSON.parse(body);
    reviews[side]?.push({ name, review });
    if (raw[name]) return response.writeHead(raw[name][0], { 'content-type': 'application/json', ...(raw[name][0] === 302 && { location: '/x' }) }).end(raw[name][1]);
    const { apiVersion, kind, request: asked } = review;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, ...answers[name](asked) } }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: (side, name) => `https://127.0.0.1:${server.address().port}/${side}/${name}`, reviews, caBundle: Buffer.from(authority.cert).toString('base64'), close };
}
