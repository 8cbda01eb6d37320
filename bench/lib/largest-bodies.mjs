// Requests that are as large as the apiserver's limits let them be, one case for each way of reading, checking and writing an object.
const times = (count, make) => Array.from({ length: count }, (_, at) => make(at));
const map = (count, make) => Object.fromEntries(times(count, make));
const space = '/api/v1/namespaces/default';
const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
const post = (path, body, more = {}) => ({ path, body: text(body), ...more });
const patch = (path, body, contentType) => ({ method: 'PATCH', path, body: text(body), contentType });
const dry = '?dryRun=All';

const data = (count, value = 'x') => map(count, (at) => [`key-${at}`, value]);
const configMap = (name, more) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more });
const pod = (spec, metadata = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
const review = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definition = (plural, versions) => {
  const kind = plural[0].toUpperCase() + plural.slice(1);
  const names = { plural, singular: plural, kind, listKind: `${kind}List` };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions },
  };
};
const version = (name, schema, storage = true) => ({ name, served: true, storage, schema: { openAPIV3Schema: schema } });
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const nested = (depth) => (depth === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(depth - 1) } });
const manager = (fields) => (at) => ({
  ...{ manager: `m${at}`, operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1' },
  fieldsV1: { 'f:data': map(fields, (field) => [`f:k${field}`, {}]) },
});
const term = (at) => ({ topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: `a${at}` } } });
const env = (count) => times(count, (at) => ({ name: `E${at}`, value: 'x' }));
const applied = (name, value) =>
  patch(
    `${space}/configmaps/${name}?fieldManager=m&force=true`,
    configMap(name, { data: data(30_000, value) }),
    'application/apply-patch+yaml',
  );
const cel = (rule) => ({
  type: 'object',
  properties: { items: { type: 'array', maxItems: 100_000, items: { type: 'string', maxLength: 10 } } },
  'x-kubernetes-validations': [{ rule }],
});

export const cases = [
  {
    name: 'JSON: 120,000 values of a review',
    requests: [post(review, { spec: { extra: map(48_000, (at) => [`k${at}`, []]) } })],
  },
  { name: 'JSON: one key 480,000 times', requests: [post(review, `{${times(480_000, () => '"a":1').join(',')}}`)] },
  {
    name: 'YAML: 190,000 keys',
    requests: [post(review, times(190_000, (at) => `k${at}: 1`).join('\n'), { contentType: 'application/yaml' })],
  },
  {
    name: 'YAML: a flow map of 120,000 keys',
    requests: [post(review, `{${times(120_000, (at) => `k${at}: 1`).join(', ')}}`, { contentType: 'application/yaml' })],
  },
  {
    name: 'YAML: 99,000 anchors',
    requests: [post(review, times(99_000, (at) => `- &a${at} 1`).join('\n'), { contentType: 'application/yaml' })],
  },
  {
    name: 'YAML: a map of 49,000 keys',
    requests: [post(review, times(49_000, (at) => `k${at}: 1`).join('\n'), { contentType: 'application/yaml' })],
  },
  {
    name: 'YAML: a flow list of 90,000 tags and anchors',
    requests: [post(review, `[${times(90_000, () => '!!str &a 1').join(',')}]`, { contentType: 'application/yaml' })],
  },
  {
    name: 'create: config map of 48,000 keys',
    requests: [post(`${space}/configmaps${dry}`, configMap('a', { data: data(48_000) }))],
  },
  {
    name: 'create: config map of one text of 1 MB',
    requests: [post(`${space}/configmaps${dry}`, configMap('a', { data: { a: 'x'.repeat(1_000_000) } }))],
  },
  {
    name: 'create: config map of 48,000 bad keys',
    requests: [post(`${space}/configmaps${dry}`, configMap('a', { data: map(48_000, (at) => [`!${at}`, 'x']) }))],
  },
  {
    name: 'create: 35,000 bad labels',
    requests: [
      post(
        `${space}/configmaps${dry}`,
        configMap('a', { metadata: { name: 'a', labels: map(35_000, (at) => [`-${at}`, '!']) } }),
      ),
    ],
  },
  {
    name: 'create: 48,000 good labels',
    requests: [
      post(
        `${space}/configmaps${dry}`,
        configMap('a', { metadata: { name: 'a', labels: map(48_000, (at) => [`k${at}`, 'x']) } }),
      ),
    ],
  },
  {
    name: 'create: pod of 24,000 bad containers',
    requests: [post(`${space}/pods${dry}`, pod({ containers: times(24_000, () => ({ name: 'A b' })) }))],
  },
  {
    name: 'create: pod of 18,000 good containers',
    requests: [post(`${space}/pods${dry}`, pod({ containers: times(18_000, (at) => ({ name: `c${at}`, image: 'i' })) }))],
  },
  {
    name: 'create: pod of 20,000 variables',
    requests: [post(`${space}/pods${dry}`, pod({ containers: [{ name: 'c', image: 'i', env: env(20_000) }] }))],
  },
  {
    name: 'create: pod of 20,000 tolerations',
    requests: [post(`${space}/pods${dry}`, pod({ tolerations: times(20_000, (at) => ({ key: `k${at}`, operator: 'Exists' })) }))],
  },
  {
    name: 'create: 8,000 owners',
    requests: [
      post(
        `${space}/configmaps${dry}`,
        configMap('a', {
          metadata: {
            name: 'a',
            ownerReferences: times(8_000, (at) => ({
              apiVersion: 'v1',
              kind: 'Pod',
              name: `p${at}`,
              uid: `u${at}`,
              controller: true,
            })),
          },
        }),
      ),
    ],
  },
  {
    name: 'create: managed fields of 200 owners',
    requests: [
      post(
        `${space}/configmaps${dry}`,
        configMap('a', { metadata: { name: 'a', managedFields: times(200, manager(200)) }, data: data(10) }),
      ),
    ],
  },
  {
    name: 'create: managed fields of 2 owners of 48,000',
    requests: [
      post(
        `${space}/configmaps${dry}`,
        configMap('a', { metadata: { name: 'a', managedFields: times(2, manager(48_000)) }, data: data(10) }),
      ),
    ],
  },
  {
    name: 'create: network policy of 20,000 ports',
    requests: [
      post(`/apis/networking.k8s.io/v1/namespaces/default/networkpolicies${dry}`, {
        metadata: { name: 'a' },
        spec: { podSelector: {}, ingress: [{ ports: times(20_000, (at) => ({ port: at + 1 })) }] },
      }),
    ],
  },
  {
    name: 'create: endpoint slice of 1,000 with 16,000 ports',
    requests: [
      post(`/apis/discovery.k8s.io/v1/namespaces/default/endpointslices${dry}`, {
        metadata: { name: 'a' },
        addressType: 'IPv4',
        endpoints: times(1000, (at) => ({ addresses: [`10.0.${at >> 8}.${at & 255}`] })),
        ports: times(16_000, (at) => ({ name: `p${at}`, port: at + 1 })),
      }),
    ],
  },
  {
    name: 'create: role of 8,000 rules',
    requests: [
      post(`/apis/rbac.authorization.k8s.io/v1/clusterroles${dry}`, {
        metadata: { name: 'a' },
        rules: times(8_000, (at) => ({ apiGroups: [''], resources: [`r${at}`], verbs: ['get'] })),
      }),
    ],
  },
  {
    name: 'patch: JSON patch that moves 9,000 times',
    prepare: [
      post(
        `${space}/configmaps`,
        configMap('patched', {
          metadata: { name: 'patched', finalizers: times(10_000, (at) => `a.example.com/f${at}`) },
          data: { a: 'x' },
        }),
      ),
    ],
    requests: [
      patch(
        `${space}/configmaps/patched${dry}`,
        times(9_000, () => ({ op: 'move', from: '/metadata/finalizers/0', path: '/metadata/finalizers/9999' })),
        'application/json-patch+json',
      ),
    ],
  },
  {
    name: 'patch: merge patch of 30,000 keys',
    prepare: [post(`${space}/configmaps`, configMap('merged', { data: data(30_000) }))],
    requests: [patch(`${space}/configmaps/merged${dry}`, { data: data(30_000, 'y') }, 'application/merge-patch+json')],
  },
  {
    name: 'patch: strategic merge patch of 30,000 keys',
    prepare: [post(`${space}/configmaps`, configMap('strategic', { data: data(30_000) }))],
    requests: [
      patch(`${space}/configmaps/strategic${dry}`, { data: data(30_000, 'y') }, 'application/strategic-merge-patch+json'),
    ],
  },
  {
    name: 'patch: strategic merge patch of 10,000 variables',
    prepare: [post(`${space}/pods`, pod({ containers: [{ name: 'c', image: 'i', env: env(10_000) }] }, { name: 'vars' }))],
    requests: [
      patch(
        `${space}/pods/vars${dry}`,
        { spec: { containers: [{ name: 'c', env: times(10_000, (at) => ({ name: `E${at}`, value: 'y' })) }] } },
        'application/strategic-merge-patch+json',
      ),
    ],
  },
  {
    name: 'put: config map of 48,000 keys',
    prepare: [post(`${space}/configmaps`, configMap('put', { data: data(30_000) }))],
    requests: [{ ...post(`${space}/configmaps/put`, configMap('put', { data: data(48_000, 'yy') })), method: 'PUT' }],
  },
  { name: 'apply: config map of 30,000 keys', requests: [applied('applied', 'x'), applied('applied', 'y')] },
  {
    name: 'read: the config map of 48,000 keys',
    prepare: [post(`${space}/configmaps`, configMap('read', { data: data(48_000) }))],
    requests: [{ method: 'GET', path: `${space}/configmaps/read` }],
  },
  {
    name: 'delete: a collection of 50 pods of 4,000 terms each',
    prepare: times(50, (at) =>
      post(
        `${space}/pods`,
        pod(
          { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: times(4_000, term) } } },
          { name: `large-${at}`, labels: { large: 'yes' } },
        ),
      ),
    ),
    requests: ['no', 'yes'].map((which) => ({ method: 'DELETE', path: `${space}/pods?labelSelector=large%3D${which}` })),
  },
  {
    name: 'definition: 5,000 versions',
    requests: [
      post(
        `${definitions}${dry}`,
        definition(
          'manies',
          times(5_000, (at) => version(`v${at + 1}`, { type: 'object' }, at === 0)),
        ),
      ),
    ],
  },
  {
    name: 'definition: 48,000 properties',
    requests: [
      post(
        `${definitions}${dry}`,
        definition('wides', [version('v1', { type: 'object', properties: map(48_000, (at) => [`p${at}`, { type: 'string' }]) })]),
      ),
    ],
  },
  {
    name: 'definition: 48,000 bad properties',
    requests: [
      post(
        `${definitions}${dry}`,
        definition('bads', [version('v1', { type: 'object', properties: map(48_000, (at) => [`p${at}`, { type: 'nothing' }]) })]),
      ),
    ],
  },
  {
    name: 'definition: 1,000 levels',
    requests: [post(`${definitions}${dry}`, definition('deeps', [version('v1', nested(1000))]))],
  },
  {
    name: 'definition: 2,000 expressions',
    requests: [
      post(
        `${definitions}${dry}`,
        definition('rules', [
          version('v1', {
            type: 'object',
            properties: map(2_000, (at) => [`p${at}`, { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1' }] }]),
          }),
        ]),
      ),
    ],
  },
  {
    name: 'custom: 48,000 items judged by an expression',
    prepare: [post(definitions, definition('judged', [version('v1', cel('self.items.all(x, x != "a")'))]))],
    requests: [
      post(`/apis/example.com/v1/namespaces/default/judged${dry}`, {
        apiVersion: 'example.com/v1',
        kind: 'Judged',
        metadata: { name: 'a' },
        items: times(48_000, () => 'x'),
      }),
    ],
  },
  {
    name: 'custom: 48,000 fields of any kind',
    prepare: [post(definitions, definition('anies', [version('v1', anything)]))],
    requests: [
      post(`/apis/example.com/v1/namespaces/default/anies${dry}`, {
        apiVersion: 'example.com/v1',
        kind: 'Anies',
        metadata: { name: 'a' },
        ...data(48_000),
      }),
    ],
  },
  {
    name: 'custom: 48,000 fields that are pruned',
    prepare: [post(definitions, definition('prunes', [version('v1', { type: 'object' })]))],
    requests: [
      post(`/apis/example.com/v1/namespaces/default/prunes${dry}`, {
        apiVersion: 'example.com/v1',
        kind: 'Prunes',
        metadata: { name: 'a' },
        ...data(48_000),
      }),
    ],
  },
  {
    name: 'list: a label selector of 3,000 sets of values in the URL',
    prepare: times(50, (at) =>
      post(`${space}/configmaps`, configMap(`listed${at}`, { metadata: { name: `listed${at}`, labels: { a: 'b' } } })),
    ),
    requests: [
      {
        method: 'GET',
        path: `${space}/configmaps?labelSelector=${encodeURIComponent(times(3_000, (at) => `a!=v${at}`).join(','))}`,
      },
      {
        method: 'GET',
        path: `${space}/configmaps?labelSelector=${encodeURIComponent(`a in (${times(5_000, (at) => `v${at}`).join(',')})`)}`,
      },
    ],
  },
  {
    name: 'list: a field selector of 2,000 terms in the URL',
    requests: [
      {
        method: 'GET',
        path: `${space}/configmaps?fieldSelector=${encodeURIComponent(times(2_000, (at) => `metadata.name!=v${at}`).join(','))}`,
      },
    ],
  },
  {
    name: 'review: access with a label selector of 14,000 requirements',
    requests: [
      post(review, {
        spec: {
          resourceAttributes: {
            ...{ verb: 'list', resource: 'pods', namespace: 'default' },
            labelSelector: { requirements: times(14_000, (at) => ({ key: `k${at}`, operator: 'In', values: ['a'] })) },
          },
        },
      }),
    ],
  },
  {
    name: 'create: affinity of 10,000 terms',
    requests: [
      post(
        `${space}/pods${dry}`,
        pod({
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: times(10_000, (at) => ({
                topologyKey: 'a/b',
                labelSelector: { matchLabels: { a: `v${at}` } },
              })),
            },
          },
        }),
      ),
    ],
  },
  {
    name: 'create: 8,000 volumes, each mounted',
    requests: [
      post(
        `${space}/pods${dry}`,
        pod({
          volumes: times(8_000, (at) => ({ name: `v${at}`, emptyDir: {} })),
          containers: [
            { name: 'c', image: 'i', volumeMounts: times(8_000, (at) => ({ name: `v${at}`, mountPath: `/m/${at}` })) },
          ],
        }),
      ),
    ],
  },
  {
    name: 'create: ingress of 10,000 paths',
    requests: [
      post(`/apis/networking.k8s.io/v1/namespaces/default/ingresses${dry}`, {
        metadata: { name: 'i' },
        spec: {
          rules: [
            {
              http: {
                paths: times(10_000, (at) => ({
                  path: `/p${at}`,
                  pathType: 'Prefix',
                  backend: { service: { name: 's', port: { number: 80 } } },
                })),
              },
            },
          ],
        },
      }),
    ],
  },
  {
    name: 'create: a job with 10,000 rules of failures',
    requests: [
      post(`/apis/batch/v1/namespaces/default/jobs${dry}`, {
        metadata: { name: 'j' },
        spec: {
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
          podFailurePolicy: {
            rules: times(10_000, (at) => ({ action: 'Ignore', onExitCodes: { operator: 'In', values: [at + 1] } })),
          },
        },
      }),
    ],
  },
  {
    name: 'create: a job with one rule of 120,000 exit codes',
    requests: [
      post(`/apis/batch/v1/namespaces/default/jobs${dry}`, {
        metadata: { name: 'j' },
        spec: {
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
          podFailurePolicy: {
            rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: times(120_000, (at) => 120_000 - at) } }],
          },
        },
      }),
    ],
  },
  {
    name: 'create: autoscaler of 6,000 metrics',
    requests: [
      post(`/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers${dry}`, {
        metadata: { name: 'h' },
        spec: {
          ...{ maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
          metrics: times(6_000, (at) => ({
            type: 'Pods',
            pods: { metric: { name: `m${at}` }, target: { type: 'AverageValue', averageValue: '1' } },
          })),
        },
      }),
    ],
  },
  {
    name: 'create: quota of 30,000 resources',
    requests: [
      post(`${space}/resourcequotas${dry}`, {
        metadata: { name: 'q' },
        spec: { hard: map(30_000, (at) => [`count/r${at}.example.com`, '1']) },
      }),
    ],
  },
  {
    name: 'create: claim of 3,000 requests with expressions',
    requests: [
      post(`/apis/resource.k8s.io/v1/namespaces/default/resourceclaims${dry}`, {
        metadata: { name: 'c' },
        spec: {
          devices: {
            requests: times(3_000, (at) => ({
              name: `r${at}`,
              exactly: { deviceClassName: 'a', selectors: [{ cel: { expression: `device.driver == "d${at}"` } }] },
            })),
          },
        },
      }),
    ],
  },
  {
    name: 'create: role of 12,000 verbs and names',
    requests: [
      post(`/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles${dry}`, {
        metadata: { name: 'r' },
        rules: [
          {
            apiGroups: [''],
            resources: times(12_000, (at) => `r${at}`),
            resourceNames: times(12_000, (at) => `n${at}`),
            verbs: times(12_000, (at) => `v${at}`),
          },
        ],
      }),
    ],
  },
  {
    name: 'create: secret of 20,000 keys in base64',
    requests: [post(`${space}/secrets${dry}`, { metadata: { name: 's' }, data: map(20_000, (at) => [`k${at}`, 'eHh4eA==']) })],
  },
  {
    name: 'apply: pod of 10,000 variables by another owner',
    prepare: [post(`${space}/pods`, pod({ containers: [{ name: 'c', image: 'i', env: env(10_000) }] }, { name: 'owned' }))],
    requests: [
      patch(
        `${space}/pods/owned?fieldManager=other&force=true&dryRun=All`,
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'owned' },
          spec: { containers: [{ name: 'c', image: 'i', env: env(10_000) }] },
        },
        'application/apply-patch+yaml',
      ),
    ],
  },
  {
    name: 'patch: 40,000 tests of one path',
    prepare: [post(`${space}/configmaps`, configMap('tested', { data: { a: 'x' } }))],
    requests: [
      patch(
        `${space}/configmaps/tested${dry}`,
        times(40_000, () => ({ op: 'test', path: '/data/a', value: 'x' })).slice(0, 10_000),
        'application/json-patch+json',
      ),
    ],
  },
];
