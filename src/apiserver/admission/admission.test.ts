import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Pod } from '#api/core/v1';
import type { UnknownObject } from '#apimachinery/meta';
import { seededRng, silentLogger, type Clock } from '#utils';
import { MemoryCluster } from '../registry/test-support/memory-cluster.ts';
import type { Authorizer } from '../authorization/types.ts';
import type { AdmissionRequest, Operation } from '../registry/generic/admission.ts';
import { createAdmission, enabledPlugins, orderedPluginNames, selectionProblems } from './chain.ts';
import { plugins } from './plugins/index.ts';
import { defaultPluginOptions } from './plugin.ts';

const clock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  setTimer: (_delay, callback) => {
    queueMicrotask(callback);
    return { cancel() {} };
  },
  sleep: async () => {},
};

function setUp(authorizer: Authorizer = { authorize: () => ({ allowed: false, reason: '' }) }) {
  const cluster = new MemoryCluster();
  const object = (group: string, resource: string, value: object) => cluster.put(group, resource, value as UnknownObject);
  object('', 'namespaces', { metadata: { name: 'ns' } });
  object('', 'serviceaccounts', { metadata: { name: 'default', namespace: 'ns' }, imagePullSecrets: [{ name: 'pull' }] });
  const plugins = createAdmission(
    { enable: ['NodeRestriction'] },
    { cluster, writer: cluster, authorizer, clock, rng: seededRng(1), logger: silentLogger, options: defaultPluginOptions },
  );
  const warnings: string[] = [];
  const admit = async (operation: Operation, what: string, value?: object, more: Partial<AdmissionRequest> = {}) => {
    const [path = '', group = ''] = what.split('@');
    const [resource = '', subresource = ''] = path.split('/');
    const request: AdmissionRequest = {
      operation,
      user: { name: 'jane', groups: [] },
      group,
      version: 'v1',
      resource,
      subresource,
      kind: resource === 'namespaces' ? 'Namespace' : 'X',
      namespace: 'ns',
      name: (value as UnknownObject | undefined)?.metadata?.name ?? '',
      ...(value && { object: structuredClone(value) as UnknownObject }),
      options: {},
      dryRun: false,
      warn: (message) => void warnings.push(message),
      ...more,
    };
    for (const plugin of plugins) if (plugin.handles(operation)) await plugin.admit?.(request);
    for (const plugin of plugins) if (plugin.handles(operation)) await plugin.validate?.(request);
    return request.object as unknown as Pod;
  };
  return { cluster, object, admit, warnings };
}

const pod = (spec: object = {}, metadata: object = {}): object => ({
  metadata: { name: 'p', namespace: 'ns', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

test('the selection is checked and ordered', () => {
  expect(selectionProblems({ enable: ['Nope'], disable: ['Priority'] })).toEqual([
    'enable-admission-plugins plugin "Nope" is unknown',
  ]);
  const names = enabledPlugins({ enable: ['NodeRestriction'], disable: ['Priority'] });
  expect(names.slice(0, 4)).toEqual(['NamespaceLifecycle', 'LimitRanger', 'ServiceAccount', 'NodeRestriction']);
  expect(names).not.toContain('Priority');
});

test('what runs by default is what runs upstream: a plugin of our own that is on by default is named here, with a reason', () => {
  // DefaultOffAdmissionPlugins of pkg/kubeapiserver/options/plugins.go has all others.
  const upstream =
    'NamespaceLifecycle LimitRanger ServiceAccount TaintNodesByCondition PodSecurity Priority DefaultTolerationSeconds DefaultStorageClass ' +
    'StorageObjectInUseProtection PodGroupProtection PersistentVolumeClaimResize RuntimeClass CertificateApproval CertificateSigning ' +
    'ClusterTrustBundleAttest CertificateSubjectRestriction DefaultIngressClass PodTopologyLabels PodGroupWorkloadExists ' +
    'NodeDeclaredFeatureValidator JobValidation PodResizeValidator MutatingAdmissionPolicy MutatingAdmissionWebhook ' +
    'ValidatingAdmissionPolicy ValidatingAdmissionWebhook ResourceQuota';
  expect(enabledPlugins({})).toEqual(upstream.split(' '));
});

test('a pod is completed', async () => {
  const { spec } = await setUp().admit('CREATE', 'pods', pod());
  expect(spec).toMatchObject({
    serviceAccountName: 'default',
    imagePullSecrets: [{ name: 'pull' }],
    priority: 0,
    preemptionPolicy: 'PreemptLowerPriority',
    tolerations: [{ key: 'node.kubernetes.io/not-ready', tolerationSeconds: 300 }, { key: 'node.kubernetes.io/unreachable' }],
    volumes: [{ name: expect.stringMatching(/^kube-api-access-[a-z0-9]{5}$/), projected: { sources: { length: 3 } } }],
  });
  expect(spec?.containers[0]?.volumeMounts?.[0]?.mountPath).toBe('/var/run/secrets/kubernetes.io/serviceaccount');
});

test.each([
  [
    { serviceAccountName: 'nobody' },
    'pods "p" is forbidden: error looking up service account ns/nobody: serviceaccount "nobody" not found',
  ],
  [{ priorityClassName: 'none' }, 'pods "p" is forbidden: no PriorityClass with name none was found'],
  [
    { priority: 5 },
    'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0',
  ],
  [{ runtimeClassName: 'none' }, 'pods "p" is forbidden: pod rejected: RuntimeClass "none" not found'],
  [{ overhead: { cpu: '1' } }, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'],
])('a pod with %j is refused', async (spec, message) => {
  await expect(setUp().admit('CREATE', 'pods', pod(spec))).rejects.toThrow(message);
});

test('namespaces: absent, going away, immortal', async () => {
  const { admit, object } = setUp();
  object('', 'namespaces', { metadata: { name: 'old' }, status: { phase: 'Terminating' } });
  await expect(admit('CREATE', 'configmaps', { metadata: { name: 'c' } }, { namespace: 'none' })).rejects.toThrow(
    'namespaces "none" not found',
  );
  await expect(admit('CREATE', 'configmaps', { metadata: { name: 'c' } }, { namespace: 'old' })).rejects.toMatchObject({
    status: {
      message: 'configmaps "c" is forbidden: unable to create new content in namespace old because it is being terminated',
      details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
    },
  });
  await expect(admit('DELETE', 'namespaces', undefined, { name: 'default' })).rejects.toThrow(
    'namespaces "default" is forbidden: this namespace may not be deleted',
  );
});

test('limit ranges fill in and bound', async () => {
  const { admit, object } = setUp();
  object('', 'limitranges', {
    metadata: { name: 'l', namespace: 'ns' },
    spec: {
      limits: [
        {
          type: 'Container',
          default: { cpu: '1' },
          defaultRequest: { cpu: '100m' },
          max: { cpu: '2' },
          maxLimitRequestRatio: { cpu: '20' },
        },
      ],
    },
  });
  const filled = await admit('CREATE', 'pods', pod());
  expect(filled.spec?.containers[0]?.resources).toEqual({ limits: { cpu: '1' }, requests: { cpu: '100m' } });
  expect(filled.metadata.annotations?.['kubernetes.io/limit-ranger']).toBe(
    'LimitRanger plugin set: cpu request for container c; cpu limit for container c',
  );
  const asked = pod({ containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' }, limits: { cpu: '4' } } }] });
  await expect(admit('CREATE', 'pods', asked)).rejects.toThrow(
    'pods "p" is forbidden: [maximum cpu usage per Container is 2, but limit is 4, cpu max limit to request ratio per Container is 20, but provided ratio is 40.000000]',
  );
});

test('quotas are charged, and refuse what is over', async () => {
  const { admit, object, cluster } = setUp();
  object('', 'resourcequotas', {
    metadata: { name: 'q', namespace: 'ns' },
    spec: {},
    status: {
      hard: { pods: '2', 'requests.cpu': '1', 'count/secrets': '0' },
      used: { pods: '0', 'requests.cpu': '0', 'count/secrets': '0' },
    },
  });
  const sized = (cpu: string) => pod({ containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] });
  await expect(admit('CREATE', 'secrets', { metadata: { name: 's' } })).rejects.toThrow(
    'secrets "s" is forbidden: exceeded quota: q, requested: count/secrets=1, used: count/secrets=0, limited: count/secrets=0',
  );
  await expect(admit('CREATE', 'pods', pod())).rejects.toThrow('failed quota: q: must specify requests.cpu for: c');
  await admit('CREATE', 'pods', sized('600m'));
  await admit('CREATE', 'pods', sized('300m'), { dryRun: true });
  expect(cluster.get<UnknownObject>('', 'resourcequotas', 'ns', 'q')?.status).toMatchObject({
    used: { pods: '1', 'requests.cpu': '600m' },
  });
  await expect(admit('CREATE', 'pods', sized('500m'))).rejects.toThrow(
    'exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1',
  );
});

test('pod security enforces, and warns owners', async () => {
  const { admit, object, warnings } = setUp();
  object('', 'namespaces', {
    metadata: {
      name: 'ns',
      labels: { 'pod-security.kubernetes.io/enforce': 'baseline', 'pod-security.kubernetes.io/warn': 'restricted' },
    },
  });
  const bad = { hostNetwork: true, volumes: [{ name: 'h', hostPath: { path: '/' } }], automountServiceAccountToken: false };
  await expect(admit('CREATE', 'pods', pod(bad))).rejects.toThrow(
    'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true), hostPath volumes (volume "h")',
  );
  await admit('CREATE', 'deployments@apps', {
    metadata: { name: 'd' },
    spec: { template: { spec: { containers: [{ name: 'c' }] } } },
  });
  expect(warnings).toEqual([
    'would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ]);
});

test('kubelets keep to their node', async () => {
  const { admit } = setUp();
  const user = { name: 'system:node:n1', groups: ['system:nodes'] };
  const node = (labels: object) => ({ metadata: { name: 'n1', labels } });
  await admit('CREATE', 'nodes', node({ 'kubernetes.io/os': 'linux', mine: 'x' }), { user, namespace: '' });
  await expect(
    admit('CREATE', 'nodes', node({ 'node-restriction.kubernetes.io/x': 'y' }), { user, namespace: '' }),
  ).rejects.toThrow(
    'nodes "n1" is forbidden: node "n1" is not allowed to set the following labels: node-restriction.kubernetes.io/x',
  );
  await expect(admit('CREATE', 'pods', pod({ nodeName: 'n1' }), { user })).rejects.toThrow(
    'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
  );
});

test('storage: default class, protection, growth', async () => {
  const { admit, object } = setUp();
  const mark = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  object('storage.k8s.io', 'storageclasses', {
    metadata: { name: 'a', annotations: mark, creationTimestamp: '2026-01-01T00:00:00Z' },
  });
  object('storage.k8s.io', 'storageclasses', {
    metadata: { name: 'b', annotations: mark, creationTimestamp: '2026-01-02T00:00:00Z' },
  });
  const claim = (storage: string, more: object = {}) => ({
    metadata: { name: 'c', namespace: 'ns' },
    spec: { resources: { requests: { storage } }, ...more },
  });
  expect(await admit('CREATE', 'persistentvolumeclaims', claim('1Gi'))).toMatchObject({
    metadata: { finalizers: ['kubernetes.io/pvc-protection'] },
    spec: { storageClassName: 'b' },
  });
  const oldObject = { ...claim('1Gi', { storageClassName: 'b' }), status: { phase: 'Bound' } } as UnknownObject;
  await expect(admit('UPDATE', 'persistentvolumeclaims', claim('2Gi', { storageClassName: 'b' }), { oldObject })).rejects.toThrow(
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  );
});

test('signers are approved for by those who may', async () => {
  const asked: string[] = [];
  const { admit } = setUp({
    authorize: ({ target }) => {
      asked.push(target?.name ?? '');
      return { allowed: target?.name === 'example.com/*', reason: '' };
    },
  });
  const request = (signerName: string) =>
    ({ metadata: { name: 'r' }, spec: { signerName, request: '' } }) as unknown as UnknownObject;
  const approve = (signer: string) =>
    admit('UPDATE', 'certificatesigningrequests/approval@certificates.k8s.io', request(signer), {
      namespace: '',
      oldObject: request(signer),
    });
  await approve('example.com/x');
  expect(asked).toEqual(['example.com/x', 'example.com/*']);
  await expect(approve('other.com/x')).rejects.toThrow('user not permitted to approve requests with signerName "other.com/x"');
});

test('every plugin has a folder, a place in the order, and one name', () => {
  const folder = ({ name }: { name: string }): string =>
    name
      .replace(/IPs$/, 'Ips')
      .replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`)
      .toLowerCase();
  const context = { cluster: new MemoryCluster(), writer: new MemoryCluster(), clock, rng: seededRng(1), logger: silentLogger };
  const authorizer: Authorizer = { authorize: () => ({ allowed: false, reason: '' }) };
  for (const plugin of plugins.values()) {
    expect(orderedPluginNames).toContain(plugin.name);
    const limits = { limits: [{ type: 'Server', qps: 1, burst: 1 }] };
    const configurations: Record<string, string> = {
      EventRateLimit: JSON.stringify({
        apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
        kind: 'Configuration',
        ...limits,
      }),
      ImagePolicyWebhook: JSON.stringify({ imagePolicy: { kubeConfigFile: 'images.kubeconfig' } }),
    };
    const made = plugin.make({ ...context, authorizer, options: defaultPluginOptions }, configurations[plugin.name]);
    expect(made.name).toBe(plugin.name);
  }
  const folders = readdirSync(new URL('plugins', import.meta.url), { withFileTypes: true }).filter((one) => one.isDirectory());
  expect([...plugins.values()].map(folder).sort()).toEqual(folders.map(({ name }) => name).sort());
});
