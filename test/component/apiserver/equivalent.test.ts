// The match policy of webhooks and policies: a rule for one version of a resource sees requests on the others, converted to its version
// (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchpolicy).
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { AdmissionReview } from '#api/admission/v1';
import type { UnknownObject } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { type EmbeddedStore, openMemoryStore } from '#store';
import { silentLogger } from '#utils';

const registration = 'admissionregistration.k8s.io';
const ca = createCertificateAuthority({ commonName: 'webhooks' });
const serving = issueCertificate({ ca, commonName: 'hook', ips: ['127.0.0.1'], usages: ['server auth'] });
const asked: NonNullable<AdmissionReview['request']>[] = [];
/** What the webhook answers with. */
let operations: object[] = [];
let conversionFails = false;
let webhook: Server;
let store: EmbeddedStore;
let server: KubeApiServer;
let client: Transport;

type Site = UnknownObject & { spec: { host?: string; port?: number; address?: string; replicas?: number } };

/** v1 has host and port, v2 one address. */
function convertedSite(site: Site, apiVersion: string): Site {
  const { host = '', port = 0, address = '', ...rest } = site.spec;
  const [name, at] = address.split(':');
  const spec = apiVersion.endsWith('/v2') ? { address: `${host}:${port}`, ...rest } : { host: name, port: Number(at), ...rest };
  return { ...site, apiVersion, spec } as Site;
}

function answerTo(path: string, review: { request?: unknown }): object {
  const { uid, desiredAPIVersion, objects } = review.request as { uid: string; desiredAPIVersion: string; objects: Site[] };
  if (path.startsWith('/convert')) {
    if (conversionFails) return { uid, result: { status: 'Failure', message: 'no way' } };
    const convertedObjects = objects.map((site) => convertedSite(site, desiredAPIVersion));
    return { uid, result: { status: 'Success' }, convertedObjects };
  }
  asked.push(review.request as NonNullable<AdmissionReview['request']>);
  if (path.startsWith('/validate')) return { uid, allowed: true };
  return { uid, allowed: true, patchType: 'JSONPatch', patch: btoa(JSON.stringify(operations)) };
}

const clientConfig = (path: string) => ({
  url: `https://127.0.0.1:${(webhook.address() as AddressInfo).port}/${path}`,
  caBundle: Buffer.from(ca.cert).toString('base64'),
});

const create = (group: string, version: string, resource: string, object: object, namespace = '') =>
  client.call<UnknownObject>({ group, version, resource, namespace, verb: 'create', object: object as UnknownObject });

const selected = (name: string) => ({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } });
const ruleFor = (group: string, version: string, resource: string) => ({
  ...{ operations: ['CREATE', 'UPDATE'], apiGroups: [group], apiVersions: [version], resources: [resource] },
});

/** A webhook for what is in one namespace, which is made for it. */
async function hook(kind: 'mutating' | 'validating', name: string, rule: object, more: object = {}): Promise<void> {
  await create('', 'v1', 'namespaces', { metadata: { name } }).catch(() => {});
  const one = {
    ...{ name: 'hook.example.com', clientConfig: clientConfig(kind === 'mutating' ? 'mutate' : 'validate') },
    ...{ rules: [rule], sideEffects: 'None', admissionReviewVersions: ['v1'], ...selected(name), ...more },
  };
  await create(registration, 'v1', `${kind}webhookconfigurations`, { metadata: { name: `${name}-${kind}` }, webhooks: [one] });
}

async function policy(resource: 'validating' | 'mutating', name: string, id: string, rule: object, spec: object): Promise<void> {
  await create('', 'v1', 'namespaces', { metadata: { name } }).catch(() => {});
  const metadata = { name: `${name}-${id}` };
  const matchConstraints = { resourceRules: [rule], ...selected(name) };
  await create(registration, 'v1', `${resource}admissionpolicies`, { metadata, spec: { matchConstraints, ...spec } });
  const actions = resource === 'validating' ? { validationActions: ['Deny'] } : {};
  const binding = { policyName: metadata.name, ...actions };
  await create(registration, 'v1', `${resource}admissionpolicybindings`, { metadata, spec: binding });
}

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const scaler = (averageUtilization = 80) => ({
  metadata: { name: 'h' },
  spec: {
    ...{ maxReplicas: 3, scaleTargetRef },
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }],
  },
});
const scalerRule = ruleFor('autoscaling', 'v1', 'horizontalpodautoscalers');

async function serveSites(): Promise<void> {
  const schema = (properties: object) => ({
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { replicas: { type: 'integer' }, ...properties } } },
    },
  });
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const version = (name: string, storage: boolean, properties: object) => ({
    ...{ name, served: true, storage, schema: schema(properties), subresources: { scale } },
  });
  const text = { type: 'string' };
  const spec = {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'sites', singular: 'site', kind: 'Site', listKind: 'SiteList' },
    versions: [version('v1', true, { host: text, port: { type: 'integer' } }), version('v2', false, { address: text })],
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: clientConfig('convert'), conversionReviewVersions: ['v1'] },
    },
  };
  const metadata = { name: 'sites.example.com' };
  await create('apiextensions.k8s.io', 'v1', 'customresourcedefinitions', { metadata, spec });
  const list = { group: 'example.com', version: 'v2', resource: 'sites', verb: 'list' } as const;
  await vi.waitUntil(() =>
    client.call(list).then(
      () => true,
      () => false,
    ),
  );
}

beforeAll(async () => {
  webhook = createServer({ cert: serving.cert, key: serving.key }, async (message, answer) => {
    const review = JSON.parse(await text(message)) as { request?: unknown };
    answer.end(JSON.stringify({ ...review, request: undefined, response: answerTo(message.url ?? '', review) }));
  });
  webhook.listen(0, '127.0.0.1');
  await once(webhook, 'listening');
  const clock = systemClock();
  store = openMemoryStore({ clock });
  const options = { ...defaultOptions(), bindAddress: '127.0.0.1', securePort: 0 };
  server = await runKubeApiServer(options, { clock, rng: systemRng(), logger: silentLogger, store });
  await server.started;
  client = server.transport({ name: 'admin', groups: ['system:masters'] });
  await serveSites();
});
afterAll(async () => {
  await server.close();
  await store.close();
  webhook.close();
});
beforeEach(() => {
  asked.length = 0;
  conversionFails = false;
});

it('a webhook sees the version of its rule and is told what was asked for; its patch is converted back', async () => {
  await hook('mutating', 'hpa', scalerRule);
  operations = [{ op: 'replace', path: '/spec/targetCPUUtilizationPercentage', value: 37 }];
  const made = await create('autoscaling', 'v2', 'horizontalpodautoscalers', scaler(), 'hpa');
  const gvk = (version: string) => ({ group: 'autoscaling', version, kind: 'HorizontalPodAutoscaler' });
  const gvr = (version: string) => ({ group: 'autoscaling', version, resource: 'horizontalpodautoscalers' });
  expect(asked).toMatchObject([
    {
      ...{ kind: gvk('v1'), resource: gvr('v1'), requestKind: gvk('v2'), requestResource: gvr('v2') },
      object: { apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 80 } },
    },
  ]);
  expect(made).toMatchObject({
    apiVersion: 'autoscaling/v2',
    spec: { metrics: [{ resource: { target: { averageUtilization: 37 } } }] },
  });
});

it('Exact sees only what its rules name', async () => {
  await hook('mutating', 'exact', scalerRule, { matchPolicy: 'Exact' });
  await create('autoscaling', 'v2', 'horizontalpodautoscalers', scaler(), 'exact');
  expect(asked).toEqual([]);
});

it('a rule that names the version of the request comes before one that names an equivalent', async () => {
  const rules = [scalerRule, ruleFor('autoscaling', 'v2', 'horizontalpodautoscalers')];
  await hook('validating', 'order', scalerRule, { rules });
  await create('autoscaling', 'v2', 'horizontalpodautoscalers', scaler(), 'order');
  expect(asked).toMatchObject([{ kind: { version: 'v2' }, object: { apiVersion: 'autoscaling/v2' } }]);
});

it('groups that share a storage are equivalent', async () => {
  await hook('validating', 'groups', ruleFor('events.k8s.io', 'v1', 'events'));
  const involvedObject = { kind: 'Pod', name: 'p', namespace: 'groups' };
  const event = { metadata: { name: 'e' }, involvedObject, message: 'it is so', reason: 'Because', type: 'Normal' };
  await create('', 'v1', 'events', event, 'groups');
  expect(asked).toMatchObject([
    {
      ...{ kind: { group: 'events.k8s.io', kind: 'Event' }, requestKind: { group: '', kind: 'Event' } },
      object: { apiVersion: 'events.k8s.io/v1', note: 'it is so', regarding: { name: 'p' } },
    },
  ]);
});

it('custom resources are converted to the version of the rule and back', async () => {
  await hook('mutating', 'sites', ruleFor('example.com', 'v1', 'sites'));
  operations = [{ op: 'replace', path: '/spec/port', value: 443 }];
  const made = await create('example.com', 'v2', 'sites', { metadata: { name: 's' }, spec: { address: 'a:80' } }, 'sites');
  expect(asked).toMatchObject([
    { kind: { version: 'v1' }, requestKind: { version: 'v2' }, object: { apiVersion: 'example.com/v1', spec: { host: 'a' } } },
  ]);
  expect(made).toMatchObject({ apiVersion: 'example.com/v2', spec: { address: 'a:443' } });
  const place = { group: 'example.com', resource: 'sites', namespace: 'sites', name: 's' };
  const patched = await client.call<UnknownObject>({
    ...{
      ...place,
      version: 'v2',
      verb: 'patch',
      patch: { type: 'application/merge-patch+json', body: { spec: { address: 'b:1' } } },
    },
  });
  expect(asked[1]).toMatchObject({ object: { spec: { host: 'b', port: 1 } }, oldObject: { spec: { host: 'a', port: 443 } } });
  expect(patched).toMatchObject({ spec: { address: 'b:443' } });
});

it('subresources with a type of their own are named by the version of the rule', async () => {
  const place = { group: 'example.com', version: 'v2', resource: 'sites', namespace: 'scale', name: 's' };
  await hook('validating', 'scale', ruleFor('example.com', 'v1', 'sites/scale'));
  await create('example.com', 'v2', 'sites', { metadata: { name: 's' }, spec: { address: 'a:80', replicas: 1 } }, 'scale');
  await client.call<UnknownObject>({
    ...{
      ...place,
      subresource: 'scale',
      verb: 'patch',
      patch: { type: 'application/merge-patch+json', body: { spec: { replicas: 2 } } },
    },
  });
  const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  expect(asked).toMatchObject([
    {
      ...{ kind, requestKind: kind, subResource: 'scale', object: { kind: 'Scale', spec: { replicas: 2 } } },
      ...{ resource: { version: 'v1', resource: 'sites' }, requestResource: { version: 'v2', resource: 'sites' } },
    },
  ]);
});

it('a webhook for scales is asked once, about the Scale, after its number was judged', async () => {
  const place = { group: 'apps', version: 'v1', resource: 'deployments', namespace: 'scaled', name: 'd' } as const;
  await hook('validating', 'scaled', ruleFor('apps', 'v1', 'deployments/scale'));
  const labels = { app: 'd' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await create(
    'apps',
    'v1',
    'deployments',
    { metadata: { name: 'd' }, spec: { selector: { matchLabels: labels }, template } },
    'scaled',
  );
  const scaleTo = (replicas: number): Promise<UnknownObject> =>
    client.call<UnknownObject>({
      ...{ ...place, subresource: 'scale', verb: 'patch' },
      patch: { type: 'application/merge-patch+json', body: { spec: { replicas } } },
    });
  await expect(scaleTo(-1)).rejects.toMatchObject({ status: { code: 422 } });
  expect(asked).toEqual([]);
  await scaleTo(2);
  const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1' };
  expect(asked).toMatchObject([
    { object: { ...scale, spec: { replicas: 2 } }, oldObject: { ...scale, spec: { replicas: 1 } }, kind: { kind: 'Scale' } },
  ]);
});

it('what cannot be converted is refused', async () => {
  await hook('validating', 'broken', ruleFor('example.com', 'v1', 'sites'));
  conversionFails = true;
  const made = create('example.com', 'v2', 'sites', { metadata: { name: 's' }, spec: { address: 'a:80' } }, 'broken');
  await expect(made).rejects.toMatchObject({ status: { code: 500, message: expect.stringContaining('no way') } });
  expect(asked).toEqual([]);
});

it('a validating policy judges the version of its rule', async () => {
  const seen = "request.kind.version == 'v1' && request.resource.version == 'v1' && request.requestKind.version == 'v2'";
  const expressions = ['object.spec.targetCPUUtilizationPercentage < 50', seen];
  await policy('validating', 'vap', 'p', scalerRule, { validations: expressions.map((expression) => ({ expression })) });
  const place = ['autoscaling', 'v2', 'horizontalpodautoscalers'] as const;
  await expect(create(...place, scaler(80), 'vap')).rejects.toThrow(`failed expression: ${expressions[0]}`);
  await expect(create(...place, scaler(40), 'vap')).resolves.toMatchObject({ apiVersion: 'autoscaling/v2' });
  await policy('validating', 'vap', 'exact', scalerRule, {
    matchConstraints: { resourceRules: [scalerRule], matchPolicy: 'Exact', ...selected('vap') },
    validations: [{ expression: 'false' }],
  });
  await expect(create(...place, { ...scaler(40), metadata: { name: 'i' } }, 'vap')).resolves.toBeDefined();
});

it('mutating policies of several versions work on one object, each in its own', async () => {
  const apply = (expression: string) => ({
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
    reinvocationPolicy: 'Never',
  });
  const sites = (version: string) => ruleFor('example.com', version, 'sites');
  await policy('mutating', 'map', 'a', sites('v1'), apply('Object{spec: Object.spec{port: object.spec.port + 1}}'));
  await policy('mutating', 'map', 'b', sites('v2'), apply('Object{spec: Object.spec{address: "x" + object.spec.address}}'));
  await policy('mutating', 'map', 'c', sites('v1'), apply('Object{spec: Object.spec{port: object.spec.port + 1}}'));
  const made = await create('example.com', 'v2', 'sites', { metadata: { name: 's' }, spec: { address: 'a:80' } }, 'map');
  expect(made).toMatchObject({ apiVersion: 'example.com/v2', spec: { address: 'xa:82' } });
});
