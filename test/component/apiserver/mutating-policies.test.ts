// Mutating admission policies in a whole apiserver: built-in and custom objects, together with a webhook, and what they leave alone.
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AdmissionReview } from '#api/admission/v1';
import type { UnknownObject } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';
import type { KubeApiServer } from '#apiserver/app';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { silentLogger } from '#utils';
import { startApiServer } from '../../support/api-server.ts';

const registration = { group: 'admissionregistration.k8s.io', version: 'v1' };
const ca = createCertificateAuthority({ commonName: 'webhooks' });
const serving = issueCertificate({ ca, commonName: 'hook', ips: ['127.0.0.1'], usages: ['server auth'] });
let server: KubeApiServer;
let client: Transport;
let webhook: Server;
const seenByWebhook: (Record<string, string> | undefined)[] = [];

const create = (group: string, version: string, resource: string, object: object, namespace?: string, dryRun?: boolean) =>
  client.call<UnknownObject>({
    ...{ group, version, resource, verb: 'create', object: object as UnknownObject },
    ...(namespace !== undefined && { namespace }),
    ...(dryRun && { options: { dryRun } }),
  });

/** A policy bound to everything in one namespace, which is made for it. */
async function policy(name: string, group: string, resource: string, mutation: object, more: object = {}): Promise<void> {
  await create('', 'v1', 'namespaces', { metadata: { name } }).catch(() => {});
  const rule = { apiGroups: [group], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: [resource] };
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': name } };
  const spec = {
    matchConstraints: { resourceRules: [rule], namespaceSelector },
    mutations: [mutation],
    reinvocationPolicy: 'Never',
  };
  const metadata = { name: `${name}-${resource}` };
  await create(registration.group, 'v1', 'mutatingadmissionpolicies', { metadata, spec: { ...spec, ...more } });
  await create(registration.group, 'v1', 'mutatingadmissionpolicybindings', { metadata, spec: { policyName: metadata.name } });
}
const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

beforeAll(async () => {
  webhook = createServer({ cert: serving.cert, key: serving.key }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const review = JSON.parse(Buffer.concat(chunks).toString()) as AdmissionReview;
    seenByWebhook.push((review.request?.object as { data?: Record<string, string> } | undefined)?.data);
    const operations = [{ op: 'add', path: '/data/webhook', value: 'yes' }];
    const answer = { uid: review.request?.uid, allowed: true, patchType: 'JSONPatch', patch: btoa(JSON.stringify(operations)) };
    response.end(JSON.stringify({ ...review, request: undefined, response: answer }));
  });
  webhook.listen(0, '127.0.0.1');
  await once(webhook, 'listening');
  server = await startApiServer(silentLogger, { disableAdmissionPlugins: ['ServiceAccount'] });
  client = server.transport({ name: 'admin', groups: ['system:masters'] });
});
afterAll(async () => {
  await server.close();
  webhook.close();
});

it('adds a sidecar, which later plugins and defaults then see', async () => {
  const sidecar = 'Object.spec.initContainers{name: "mesh", image: "mesh:v1", restartPolicy: "Always"}';
  await policy('sidecars', '', 'pods', apply(`Object{spec: Object.spec{initContainers: [${sidecar}]}}`));
  const limits = [{ type: 'Container', default: { cpu: '200m' }, defaultRequest: { cpu: '100m' } }];
  await create('', 'v1', 'limitranges', { metadata: { name: 'l' }, spec: { limits } }, 'sidecars');
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const { spec } = await create('', 'v1', 'pods', pod, 'sidecars');
  const resources = { limits: { cpu: '200m' }, requests: { cpu: '100m' } };
  expect(spec).toMatchObject({ initContainers: [{ name: 'mesh', imagePullPolicy: 'IfNotPresent', resources }] });
});

it('changes custom resources by their schema', async () => {
  const parts = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, count: { type: 'integer', default: 9 } },
    },
  };
  const schema = { type: 'object', properties: { spec: { type: 'object', properties: { parts } } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }];
  const names = { plural: 'widgets', kind: 'Widget' };
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions };
  await create('apiextensions.k8s.io', 'v1', 'customresourcedefinitions', { metadata: { name: 'widgets.example.com' }, spec });
  await expect
    .poll(
      () =>
        client.call({ group: 'example.com', version: 'v1', resource: 'widgets', verb: 'list' }).then(
          () => 'served',
          () => '',
        ),
      {
        timeout: 30_000,
      },
    )
    .toBe('served');
  await policy('custom', 'example.com', 'widgets', apply('Object{spec: Object.spec{parts: [Object.spec.parts{name: "b"}]}}'));
  const widget = {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: { parts: [{ name: 'a', count: 1 }] },
  };
  const made = await create('example.com', 'v1', 'widgets', widget, 'custom');
  expect(made['spec']).toEqual({
    parts: [
      { name: 'a', count: 1 },
      { name: 'b', count: 9 },
    ],
  });
});

it('runs again after a webhook where the policy asks for it, and the webhook is not asked twice', async () => {
  const seen = 'has(object.data.webhook) ? "after" : "before"';
  await policy('rounds', '', 'configmaps', apply(`Object{data: {"policy": ${seen}}}`), { reinvocationPolicy: 'IfNeeded' });
  const { port } = webhook.address() as AddressInfo;
  const hook = {
    name: 'w.example.com',
    clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(ca.cert).toString('base64') },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'rounds' } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  await create(registration.group, 'v1', 'mutatingwebhookconfigurations', { metadata: { name: 'w' }, webhooks: [hook] });
  const made = await create('', 'v1', 'configmaps', { metadata: { name: 'c' }, data: { k: 'v' } }, 'rounds');
  expect(made['data']).toEqual({ k: 'v', policy: 'after', webhook: 'yes' });
  expect(seenByWebhook).toEqual([{ k: 'v', policy: 'before' }]);
});

it('refuses what a policy cannot do, dry or not, and lets it pass with failurePolicy Ignore', async () => {
  await policy('refusing', '', 'configmaps', patch('[JSONPatch{op: "replace", path: "/data/zz/y", value: ""}]'));
  const cm = { metadata: { name: 'c' }, data: { k: 'v' } };
  const why = 'JSON Patch: replace operation does not apply: doc is missing path: /data/zz/y: missing value';
  const message = `policy 'refusing-configmaps' with binding 'refusing-configmaps' denied request: ${why}`;
  for (const dryRun of [true, false])
    await expect(create('', 'v1', 'configmaps', cm, 'refusing', dryRun)).rejects.toMatchObject({
      status: { code: 403, reason: 'Invalid', message, details: { kind: 'configmaps', name: 'c', causes: [{ message }] } },
    });
  await policy('ignoring', '', 'configmaps', patch('[JSONPatch{op: "replace", path: "/data/zz/y", value: ""}]'), {
    failurePolicy: 'Ignore',
  });
  expect((await create('', 'v1', 'configmaps', cm, 'ignoring'))['data']).toEqual({ k: 'v' });
});
