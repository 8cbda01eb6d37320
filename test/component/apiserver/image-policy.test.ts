// ImagePolicyWebhook over the real apiserver: what its server is asked, what is remembered of the answers, and what holds when there are none.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { defaultOptions, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';
import { createWireClient } from '#wire';
import { startHttpsServer, type TestServer } from '../../support/https-server.ts';

let folder: string;
let closing: (() => Promise<void> | void)[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'images-'));
  closing = [];
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  await rm(folder, { recursive: true });
});

interface Review {
  apiVersion: string;
  kind: string;
  spec: { containers: { image?: string }[]; annotations?: Record<string, string>; namespace?: string };
}
const reviewOf = ({ asked }: TestServer): Review => JSON.parse(asked.at(-1)?.body ?? '{}') as Review;

/** The server that decides, and a kubeconfig for it. */
async function decider(answer: (spec: Review['spec']) => { status?: number; value: unknown }) {
  const server = await startHttpsServer(({ body }) => answer((JSON.parse(body) as Review).spec));
  closing.push(() => server.close());
  const path = join(folder, 'images.kubeconfig');
  const cluster = { server: `${server.url}/images`, 'certificate-authority-data': Buffer.from(server.ca).toString('base64') };
  await writeFile(
    path,
    JSON.stringify({
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token: 'from-apiserver' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  );
  return { server, path };
}

const pod = (name: string, images: readonly string[], annotations?: object): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...(annotations && { annotations }) },
  spec: {
    containers: images.map((image, index) => ({ name: `c${index}`, image })),
    initContainers: [{ name: 'i', image: 'first' }],
  },
});

async function serverWith(imagePolicy: object) {
  const auditPath = join(folder, 'audit.log');
  await writeFile(join(folder, 'audit.yaml'), 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n');
  const defaults = defaultOptions();
  const server = await runKubeApiServer(
    {
      ...defaults,
      ...{ bindAddress: '127.0.0.1', securePort: 0, disableAdmissionPlugins: ['ServiceAccount'] },
      enableAdmissionPlugins: ['ImagePolicyWebhook'],
      admissionConfiguration: new Map([['ImagePolicyWebhook', JSON.stringify({ imagePolicy })]]),
      audit: { ...defaults.audit, policyFile: join(folder, 'audit.yaml'), log: { ...defaults.audit.log, path: auditPath } },
    },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger },
  );
  closing.push(() => server.close());
  await server.started;
  const client = createWireClient({ baseUrl: server.url, tls: { insecureSkipVerify: true } });
  closing.push(() => client.close());
  const send = async (method: string, path: string, body: object, contentType = 'application/json') => {
    const headers = { authorization: `Bearer ${server.loopbackToken}`, 'content-type': contentType };
    const answer = await client.request({
      method,
      path: `/api/v1/namespaces/default/pods${path}`,
      headers,
      body: JSON.stringify(body),
    });
    return { status: answer.status, message: (JSON.parse(await answer.text()) as { message?: string }).message ?? '' };
  };
  return { send, audit: () => readFile(auditPath, 'utf8') };
}

it('the server sees images, namespace and the annotations of its domain, and its answers are remembered', async () => {
  const { server, path } = await decider(({ containers }) => {
    const bad = containers.some(({ image }) => image?.startsWith('bad'));
    return { value: { status: { allowed: !bad, ...(bad && { reason: 'not ours' }), auditAnnotations: { seen: 'yes' } } } };
  });
  const { send, audit } = await serverWith({ kubeConfigFile: path, allowTTL: 60, denyTTL: -1 });
  const annotations = { 'team.image-policy.k8s.io/ticket': '7', other: 'x' };
  expect(await send('POST', '', pod('a', ['good'], annotations))).toEqual({ status: 201, message: '' });
  expect(reviewOf(server)).toMatchObject({
    apiVersion: 'imagepolicy.k8s.io/v1alpha1',
    kind: 'ImageReview',
    spec: {
      containers: [{ image: 'good' }, { image: 'first' }],
      annotations: { 'team.image-policy.k8s.io/ticket': '7' },
      namespace: 'default',
    },
  });
  expect(server.asked[0]).toMatchObject({ path: '/images', headers: { authorization: 'Bearer from-apiserver' } });
  expect((await send('POST', '', pod('b', ['good'], annotations))).status).toBe(201);
  expect(server.asked).toHaveLength(1);
  const refused = 'pods "c" is forbidden: image policy webhook backend denied one or more images: not ours';
  for (let time = 0; time < 2; time++)
    expect(await send('POST', '', pod('c', ['bad']))).toEqual({ status: 403, message: refused });
  expect(server.asked).toHaveLength(3);
  expect((await send('POST', '?dryRun=All', pod('d', ['bad']))).status).toBe(403);
  await expect.poll(audit).toContain('"imagepolicywebhook.image-policy.k8s.io/seen":"yes"');
  const patch = { spec: { ephemeralContainers: [{ name: 'e', image: 'bad' }] } };
  expect(await send('PATCH', '/a/ephemeralcontainers', patch, 'application/strategic-merge-patch+json')).toMatchObject({
    status: 403,
  });
  expect(reviewOf(server).spec.containers).toEqual([{ image: 'bad' }]);
  expect(
    (
      await send(
        'PATCH',
        '/a',
        { spec: { containers: [{ name: 'c0', image: 'bad' }] } },
        'application/strategic-merge-patch+json',
      )
    ).status,
  ).toBe(403);
});

it.each([
  ['a text for the decision', 200, { status: { allowed: 'true' } }],
  ['no decision', 200, { status: {} }],
  ['no status', 200, {}],
  ['a list', 200, []],
  ['a redirect', 302, { status: { allowed: true } }],
  ['an error', 403, { status: { allowed: true } }],
  ['another kind', 200, { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', status: { allowed: true } }],
])('%s is no consent', async (_what, status, value) => {
  const { path } = await decider(() => ({ status, value }));
  const { send } = await serverWith({ kubeConfigFile: path });
  expect(await send('POST', '', pod('a', ['good']))).toMatchObject({ status: 403 });
});

it('where the server does not answer pods are refused, or let in with a word in the audit log', async () => {
  const { server, path } = await decider(() => ({ value: {} }));
  await server.close();
  const { send } = await serverWith({ kubeConfigFile: path });
  expect(await send('POST', '', pod('a', ['good']))).toEqual({
    status: 403,
    message: expect.stringMatching(/^pods "a" is forbidden: Post "https:.*\/images": .*connection refused$/) as string,
  });
  const lenient = await serverWith({ kubeConfigFile: path, defaultAllow: true });
  expect((await lenient.send('POST', '', pod('a', ['good']))).status).toBe(201);
  await expect.poll(lenient.audit).toContain('"imagepolicywebhook.image-policy.k8s.io/failed-open":"true"');
});

it.each([
  [{ kubeConfigFile: '/nowhere/at-all' }, 'no such file'],
  [{}, 'imagePolicy.kubeConfigFile must name the kubeconfig'],
  [{ kubeConfigFile: 'x', allowTTL: 1801 }, 'valid value is between 1s and 30m0s, got 30m1s'],
  [{ kubeConfigFile: 'x', retryBackoff: -2 }, 'valid value is between 1ns and 5m0s, got -2ms'],
  [
    { kubeConfigFile: 'x', denyTTL: '30s' },
    'cannot unmarshal string into Go struct field imagePolicyWebhookConfig.imagePolicy.denyTTL',
  ],
])('a server with %j does not start', async (imagePolicy, why) => {
  await expect(serverWith(imagePolicy)).rejects.toThrow(`couldn't init admission plugin "ImagePolicyWebhook": `);
  await expect(serverWith(imagePolicy)).rejects.toThrow(why);
});
