// Plugins that run only when --enable-admission-plugins names them, and what --admission-control-config-file configures.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Pod } from '#api/core/v1';
import type { UnknownObject } from '#apimachinery/meta';
import { seededRng, silentLogger } from '#utils';
import type { Attributes } from '../request/request.ts';
import type { AdmissionRequest, Operation } from '../registry/generic/admission.ts';
import { MemoryCluster } from '../registry/test-support/memory-cluster.ts';
import { createAdmission } from './chain.ts';
import { readAdmissionConfiguration } from './configuration.ts';
import { defaultPluginOptions } from './plugin.ts';

interface World {
  enable: string[];
  configurations?: Record<string, string>;
  mayDo?: (attributes: Attributes) => boolean;
  annotations?: Record<string, string>;
}

const everyPlugin = ['NamespaceLifecycle', 'ServiceAccount', 'LimitRanger', 'PodSecurity', 'Priority', 'ResourceQuota'];

function world({ enable, configurations = {}, mayDo = () => true, annotations = {} }: World) {
  const cluster = new MemoryCluster();
  cluster.put('', 'namespaces', { metadata: { name: 'ns', annotations } } as UnknownObject);
  let nowMs = 0;
  const clock = { now: () => nowMs, monotonic: () => nowMs, setTimer: () => ({ cancel() {} }), sleep: async () => {} };
  const authorizer = { authorize: (attributes: Attributes) => ({ allowed: mayDo(attributes), reason: 'no rule' }) };
  const plugins = createAdmission(
    { enable, disable: everyPlugin.filter((name) => !enable.includes(name)) },
    { cluster, writer: cluster, authorizer, clock, rng: seededRng(1), logger: silentLogger, options: defaultPluginOptions },
    new Map(Object.entries(configurations)),
  ).filter(({ name }) => enable.includes(name));
  const send = async (operation: Operation, resource: string, object: object, more: Partial<AdmissionRequest> = {}) => {
    const request: AdmissionRequest = {
      ...{ operation, group: '', version: 'v1', resource, subresource: '', kind: 'Pod', namespace: 'ns', name: 'p' },
      ...{ user: { name: 'jane', groups: [] }, options: {}, dryRun: false, warn() {} },
      object: structuredClone(object) as UnknownObject,
      ...more,
    };
    for (const plugin of plugins) if (plugin.handles(operation)) await plugin.admit?.(request);
    for (const plugin of plugins) if (plugin.handles(operation)) await plugin.validate?.(request);
    return request.object as unknown as Pod;
  };
  return {
    cluster,
    send,
    create: (spec: object) => send('CREATE', 'pods', podWith(spec)),
    pass(ms: number) {
      nowMs += ms;
    },
  };
}
const podWith = (spec: object = {}, metadata: object = {}): object => ({
  metadata: { name: 'p', namespace: 'ns', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

test('AlwaysPullImages: images of new pods are pulled, those of pods that bring none are left', async () => {
  const { create, send } = world({ enable: ['AlwaysPullImages'] });
  const spec = {
    containers: [{ name: 'c', image: 'i', imagePullPolicy: 'Never' }],
    initContainers: [{ name: 'x', image: 'j' }],
    volumes: [{ name: 'v', image: { reference: 'k', pullPolicy: 'IfNotPresent' } }],
  };
  const made = (await create(spec)).spec;
  expect([made?.containers[0]?.imagePullPolicy, made?.initContainers?.[0]?.imagePullPolicy]).toEqual(['Always', 'Always']);
  expect(made?.volumes?.[0]?.image?.pullPolicy).toBe('Always');
  const old = { oldObject: podWith(spec) as UnknownObject };
  expect((await send('UPDATE', 'pods', podWith(spec), old)).spec?.containers[0]?.imagePullPolicy).toBe('Never');
});

test('AlwaysDeny: nothing passes', async () => {
  await expect(world({ enable: ['AlwaysDeny'] }).create({})).rejects.toThrow(
    'pods "p" is forbidden: admission control is denying all modifications',
  );
});

test('NamespaceExists and NamespaceAutoProvision: an absent namespace is refused, or made', async () => {
  const elsewhere = { namespace: 'new' };
  await expect(world({ enable: ['NamespaceExists'] }).send('DELETE', 'pods', podWith(), elsewhere)).rejects.toMatchObject({
    status: { code: 404, message: 'namespaces "new" not found' },
  });
  const { send, cluster } = world({ enable: ['NamespaceAutoProvision', 'NamespaceLifecycle'] });
  await expect(send('CREATE', 'pods', podWith(), { ...elsewhere, dryRun: true })).rejects.toThrow('namespaces "new" not found');
  await send('CREATE', 'pods', podWith(), elsewhere);
  expect(cluster.get('', 'namespaces', '', 'new')).toBeDefined();
});

test('ExtendedResourceToleration: a pod that asks for devices tolerates their taints', async () => {
  const requests = { 'example.com/gpu': '1', cpu: '1', 'example.com/fpga': '2' };
  const { create } = world({ enable: ['ExtendedResourceToleration'] });
  const made = await create({ containers: [{ name: 'c', image: 'i', resources: { requests } }] });
  expect(made.spec?.tolerations).toEqual([
    { key: 'example.com/fpga', operator: 'Exists', effect: 'NoSchedule' },
    { key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' },
  ]);
});

test('LimitPodHardAntiAffinityTopology: pods keep others only off their machine', async () => {
  const { create } = world({ enable: ['LimitPodHardAntiAffinityTopology'] });
  const away = (topologyKey: string) => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } },
  });
  await create(away('kubernetes.io/hostname'));
  await expect(create(away('zone'))).rejects.toThrow(
    'pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
  );
});

test('PodNodeSelector: the namespace, or else the configuration, says where pods go', async () => {
  const configuration = 'podNodeSelectorPluginConfig:\n  clusterDefaultNodeSelector: pool=small\n  ns: pool=small,disk=ssd';
  const configurations = { PodNodeSelector: configuration };
  const plain = world({ enable: ['PodNodeSelector'], configurations });
  expect((await plain.create({ nodeSelector: { disk: 'ssd' } })).spec?.nodeSelector).toEqual({ pool: 'small', disk: 'ssd' });
  await expect(plain.create({ nodeSelector: { pool: 'big' } })).rejects.toThrow(
    'pods "p" is forbidden: pod node label selector conflicts with its namespace node label selector',
  );
  await expect(plain.create({ nodeSelector: { other: 'x' } })).rejects.toThrow(
    'pods "p" is forbidden: pod node label selector labels conflict with its namespace whitelist',
  );
  const annotations = { 'scheduler.alpha.kubernetes.io/node-selector': 'pool=big' };
  const annotated = world({ enable: ['PodNodeSelector'], annotations });
  expect((await annotated.create({})).spec?.nodeSelector).toEqual({ pool: 'big' });
  const odd = world({
    enable: ['PodNodeSelector'],
    annotations: { ...annotations, 'scheduler.alpha.kubernetes.io/node-selector': 'a' },
  });
  await expect(odd.create({})).rejects.toThrow('invalid selector: [a]');
});

test('PodTolerationRestriction: the namespace gives tolerations, and says which are allowed', async () => {
  const on = (key: string) => ({ key, operator: 'Exists' });
  const prefix = 'scheduler.alpha.kubernetes.io/';
  const annotations = {
    [`${prefix}defaultTolerations`]: JSON.stringify([on('a')]),
    [`${prefix}tolerationsWhitelist`]: JSON.stringify([on('a'), on('b'), on('node.kubernetes.io/memory-pressure')]),
  };
  const enable = ['PodTolerationRestriction'];
  const { create } = world({ enable, annotations });
  expect((await create({ tolerations: [on('b')] })).spec?.tolerations).toEqual([on('b'), on('a')]);
  await expect(create({ tolerations: [on('c')] })).rejects.toThrow(
    'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
  );
  const burstable = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }] };
  expect((await create(burstable)).spec?.tolerations).toContainEqual({
    ...on('node.kubernetes.io/memory-pressure'),
    effect: 'NoSchedule',
  });
  const configuration = {
    apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1',
    kind: 'Configuration',
    whitelist: [on('d')],
  };
  const cluster = world({ enable, configurations: { PodTolerationRestriction: JSON.stringify(configuration) } });
  await expect(cluster.create({ tolerations: [on('c')] })).rejects.toThrow('conflict with its cluster whitelist');
});

test('a pod without containers passes the plugins: its refusal is validation’s', async () => {
  const enable = ['AlwaysPullImages', 'ExtendedResourceToleration', 'PodNodeSelector', 'PodTolerationRestriction'];
  const { send } = world({ enable });
  for (const spec of [
    undefined,
    {},
    { containers: null, initContainers: null, volumes: null, tolerations: null, nodeSelector: null },
  ])
    await send('CREATE', 'pods', { metadata: { name: 'p', namespace: 'ns' }, spec });
});

test('PodTolerationRestriction: an annotation that lists something else is refused, not handed on', async () => {
  for (const listed of ['[{"key":5}]', '[{"tolerationSeconds":"1"}]', '[null]', '{}', '[', '"x"']) {
    const annotations = { 'scheduler.alpha.kubernetes.io/defaultTolerations': listed };
    await expect(world({ enable: ['PodTolerationRestriction'], annotations }).create({})).rejects.toMatchObject({
      status: {
        code: 500,
        message: expect.stringContaining('invalid annotation scheduler.alpha.kubernetes.io/defaultTolerations'),
      },
    });
  }
});

test('EventRateLimit: Events beyond the rate are refused until tokens come back', async () => {
  const configured = (limits: object[]) =>
    world({
      enable: ['EventRateLimit'],
      configurations: {
        EventRateLimit: JSON.stringify({
          apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
          kind: 'Configuration',
          limits,
        }),
      },
    });
  const { send, pass } = configured([{ type: 'Namespace', qps: 1, burst: 2 }]);
  const event = (namespace: string) => send('CREATE', 'events', { metadata: { name: 'e' } }, { kind: 'Event', namespace });
  await event('ns');
  await event('ns');
  await expect(event('ns')).rejects.toMatchObject({
    status: { code: 429, message: 'Too many requests: limit reached on type Namespace for key ns' },
  });
  await event('other');
  pass(1_000);
  await event('ns');
  expect(() => configured([])).toThrow(
    'couldn\'t init admission plugin "EventRateLimit": limits: Invalid value: null: must not be empty',
  );
  expect(() => configured([{ type: 'Planet', qps: 0, burst: 1 }])).toThrow(
    '[limits[0].type: Unsupported value: "Planet": supported values: "Namespace", "Server", "SourceAndObject", "User", limits[0].qps: Invalid value: 0: must be positive]',
  );
});

test('OwnerReferencesPermissionEnforcement: owners are given by who may delete, blocked by who may finalize', async () => {
  const owned = (more: object) =>
    podWith({}, { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: '1', ...more }] });
  const enable = ['OwnerReferencesPermissionEnforcement'];
  const asked: string[] = [];
  const nobody = world({
    enable,
    mayDo({ verb, target }) {
      asked.push(`${verb} ${target?.resource}/${target?.subresource} ${target?.name}`);
      return false;
    },
  });
  await nobody.send('CREATE', 'pods', owned({}));
  expect(asked).toEqual([]);
  const update = { oldObject: podWith() as UnknownObject };
  await expect(nobody.send('UPDATE', 'pods', owned({}), update)).rejects.toThrow(
    'pods "p" is forbidden: cannot set an ownerRef on a resource you can\'t delete: no rule, <nil>',
  );
  await expect(nobody.send('CREATE', 'pods', owned({ blockOwnerDeletion: true }))).rejects.toThrow(
    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: no rule, <nil>",
  );
  expect(asked).toEqual(['delete pods/ p', 'update */finalizers *', 'update replicasets/finalizers rs']);
  await expect(nobody.send('CREATE', 'pods', owned({ kind: 'Odd', blockOwnerDeletion: true }))).rejects.toThrow(
    'cannot find RESTMapping for APIVersion apps/v1 Kind Odd',
  );
});

test('PodSecurity: the configuration says what holds in namespaces that say nothing, and who is exempt', async () => {
  const configured = (more: object) =>
    world({
      enable: ['PodSecurity'],
      configurations: {
        PodSecurity: JSON.stringify({
          apiVersion: 'pod-security.admission.config.k8s.io/v1',
          kind: 'PodSecurityConfiguration',
          ...more,
        }),
      },
    });
  const privileged = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] };
  const defaults = { enforce: 'baseline', 'enforce-version': 'v1.30' };
  await expect(configured({ defaults }).create(privileged)).rejects.toThrow('violates PodSecurity "baseline:v1.30": privileged');
  await configured({ defaults, exemptions: { namespaces: ['ns'] } }).create(privileged);
  await configured({ defaults, exemptions: { usernames: ['jane'] } }).create(privileged);
  expect(() =>
    configured({ defaults: { warn: 'strict', 'audit-version': '1' }, exemptions: { namespaces: ['a', 'a'] } }),
  ).toThrow(
    '[defaults.warn: Invalid value: "strict": must be one of privileged, baseline, restricted, defaults.audit-version: Invalid value: "1": must be "latest" or "v1.x", exemptions.namespaces[1]: Duplicate value: "a"]',
  );
});

test('the configuration file has each plugin’s part in it or names a file of it', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'sagong-admission-'));
  const path = join(dir, 'admission.yaml');
  const write = (text: string): Promise<void> => writeFile(path, text);
  try {
    await writeFile(join(dir, 'events.yaml'), 'kind: Configuration\n');
    const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n';
    await write(
      `${head}plugins:\n- name: EventRateLimit\n  path: events.yaml\n- name: PodSecurity\n  configuration: {kind: X}\n`,
    );
    expect([...(await readAdmissionConfiguration(path))]).toEqual([
      ['EventRateLimit', 'kind: Configuration\n'],
      ['PodSecurity', '{"kind":"X"}'],
    ]);
    await write('podNodeSelectorPluginConfig:\n  ns: a=b\n');
    expect([...(await readAdmissionConfiguration(path)).keys()]).toEqual(['PodNodeSelector']);
    await write(`${head}plugin: []\n`);
    await expect(readAdmissionConfiguration(path)).rejects.toThrow('strict decoding error: unknown field "plugin"');
    await write(`${head}plugins:\n- name: ResourceQuota\n  configuration: {}\n`);
    await expect(readAdmissionConfiguration(path)).rejects.toThrow('admission plugin "ResourceQuota" takes no configuration');
    await expect(readAdmissionConfiguration(join(dir, 'none'))).rejects.toThrow('unable to read admission control configuration');
  } finally {
    await rm(dir, { recursive: true });
  }
});
