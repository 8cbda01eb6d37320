// `sagong explain` against a whole control plane: words for resources, custom kinds, owners that are gone, and requests that were refused.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '#apimachinery/meta';
import { type ControlPlane, ephemeralPki, explain, explanationText, identities, startControlPlane } from '#cluster';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';

const clock = systemClock();
let plane: ControlPlane;
const say = async (kind: string, name: string, namespace = 'default'): Promise<string> =>
  explanationText(await explain(plane, { kind, name, namespace, nowMs: clock.now() }), clock.now());
const create = (group: string, resource: string, object: object, namespace?: string): Promise<KubeObject> =>
  plane
    .client(identities.admin, 'test')
    .resource<KubeObject>({ group, version: 'v1', resource }, namespace)
    .create(object as KubeObject);

beforeAll(async () => {
  plane = await startControlPlane(
    { dataDir: '', pki: ephemeralPki(), port: 0, advertiseAddress: '127.0.0.1' },
    { clock, rng: systemRng(), logger: silentLogger },
  );
  await plane.apiserver.started;
  await create('', 'namespaces', { metadata: { name: 'default' } }).catch(() => undefined);
});
afterAll(async () => {
  await plane.stop();
});

test('a resource is named in all the ways that kubectl knows, custom ones too', async () => {
  await create(
    '',
    'services',
    { metadata: { name: 'web' }, spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } },
    'default',
  );
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wi'] };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await create('apiextensions.k8s.io', 'customresourcedefinitions', {
    metadata: { name: 'widgets.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] },
  });
  const status = { conditions: [{ type: 'Ready', status: 'False', reason: 'NoDisk', message: 'buy one' }] };
  await expect
    .poll(
      () =>
        create(
          'example.com',
          'widgets',
          { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, status },
          'default',
        ),
      {
        timeout: 20_000,
      },
    )
    .toBeDefined();
  for (const word of ['svc', 'service', 'Services', 'services.v1'])
    expect(await say(word, 'web')).toContain('no pod of namespace default has the labels app=web');
  for (const word of ['wi', 'widget', 'Widget', 'widgets.example.com', 'widgets.v1.example.com'])
    expect(await say(word, 'w')).toBe('Widget default/w\n  Ready is False: NoDisk: buy one');
  await expect(say('widgets.other.com', 'w')).rejects.toThrow('doesn\'t have a resource type "widgets.other.com"');
  await expect(say('svc', 'gone')).rejects.toThrow('services "gone" not found');
});

test('an object is explained also where its owner is gone', async () => {
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'gone', uid: '1', controller: true }];
  await create('', 'configmaps', { metadata: { name: 'orphan', ownerReferences, finalizers: ['example.com/hold'] } }, 'default');
  await plane
    .client(identities.admin, 'test')
    .resource({ group: '', version: 'v1', resource: 'configmaps' }, 'default')
    .delete('orphan');
  expect(await say('cm', 'orphan')).toContain('waits for finalizer example.com/hold');
});

test('a refused request is told where its object, its user or its service account is asked about', async () => {
  const alice = plane.client({ name: 'alice', groups: ['system:authenticated'] }, 'test');
  const refused = alice.resource<KubeObject>({ group: 'apps', version: 'v1', resource: 'deployments' }, 'default');
  for (let times = 0; times < 2; times++)
    await expect(refused.create({ metadata: { name: 'x' } } as KubeObject)).rejects.toThrow('forbidden');
  const remedy = 'kubectl create role NAME -n default --verb=create --resource=deployments.apps';
  const byUser = await say('user', 'alice');
  expect(byUser).toContain('no RoleBinding and no ClusterRoleBinding names alice');
  expect(byUser).toContain(', 2 times (403): deployments.apps is forbidden');
  expect(byUser).toContain(remedy);
  expect(await say('deploy', 'x')).toContain('does not exist; these requests may be why:\n  alice was refused');

  const bot = plane.client({ name: 'system:serviceaccount:default:bot', groups: ['system:authenticated'] }, 'test');
  await create('', 'serviceaccounts', { metadata: { name: 'bot' } }, 'default');
  await expect(bot.resource({ group: '', version: 'v1', resource: 'secrets' }, 'default').list()).rejects.toThrow('forbidden');
  expect(await say('sa', 'bot')).toContain('--role=NAME --serviceaccount=default:bot');
});

test('what is remembered of refusals is bounded, the newest stay', async () => {
  const eve = plane.client({ name: 'eve', groups: ['system:authenticated'] }, 'test');
  const of = (name: string): Promise<unknown> =>
    eve.resource({ group: '', version: 'v1', resource: 'secrets' }, 'default').get(name);
  for (let count = 0; count < 300; count++) await of(`s-${count}`).catch(() => undefined);
  await of('x'.repeat(5_000)).catch(() => undefined);
  const all = (await plane.refusals()).refusals;
  expect(all).toHaveLength(256);
  expect(Math.max(...all.map(({ message }) => message.length))).toBeLessThan(1_100);
  expect(all.map(({ target }) => target?.name)).toContain('s-299');
});
