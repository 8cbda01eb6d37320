// Differences that played sequences meet and that stay: `is` tells one by its class, its example and the request; `shown` are the requests that show it, `steps` those about one thing (`own` stands for what
// a server has of it). One that no longer shows itself is to be taken off this list.
const types = { merge: 'application/merge-patch+json', strategic: 'application/strategic-merge-patch+json', apply: 'application/apply-patch+yaml' };
const request = (method, path, body, type = 'application/json') => ({ method, path, headers: { 'content-type': type }, bodies: Array(2).fill(JSON.stringify(body)) });
const labelled = { app: 'known' };
const template = { metadata: { labels: labelled }, spec: { containers: [{ name: 'c', image: 'i' }] } };

export const knownDifferences = [
  {
    why: "upstream's server breaks off over an order of list items that it cannot compare",
    is: ({ name }) => /: 0 here 500: .*order in patch list/s.test(name),
    shown: (namespace) => [
      request('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, { metadata: { name: 'known' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' } }),
      request('PATCH', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings/known`, { subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'b' }], '$setElementOrder/subjects': [{ name: 'b' }] }, types.strategic),
    ],
  },
  {
    why: 'a strategic patch or an apply with a number beyond 32 bits is refused here, upstream keeps its last 32 bits (docs/differences.md)',
    is: ({ name, example }) => /cannot convert int64 to int32|apply: .* here 500: .*cannot unmarshal number \S+ into Go value of type int32/s.test(`${name} ${example}`),
    shown: (namespace) => [
      request('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, { metadata: { name: 'known' }, spec: { selector: { matchLabels: labelled }, template } }),
      request('PATCH', `/apis/apps/v1/namespaces/${namespace}/deployments/known`, { spec: { replicas: 4294967297 } }, types.strategic),
    ],
  },
  {
    why: 'an empty list or map counts as absent (docs/differences.md), so failures show null where upstream shows what was sent',
    is: ({ name, example }) => /template\.metadata\.labels.*(Invalid value: \{\}|Invalid value: null)/s.test(`${name} ${example}`) || /"\w+": ?(\[\]|null|\{\})/.test(example),
    shown: (namespace) => [
      request('PATCH', `/apis/apps/v1/namespaces/${namespace}/statefulsets/known?fieldManager=one`, { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'known' }, spec: { selector: { matchLabels: labelled }, template: { ...template, metadata: { labels: {} } } } }, types.apply),
    ],
  },
  {
    why: "the first update of a Job is stored upstream even when it changes nothing: a new one gets the labels of its template when it is read",
    is: ({ name, told }) => /the version moved upstream only/.test(name) && told.startsWith('Job'),
    steps: {
      kind: 'Job',
      collection: (namespace) => `/apis/batch/v1/namespaces/${namespace}/jobs`,
      list: [{ method: 'POST', body: { metadata: { name: 'known' }, spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } } }, { method: 'PUT', body: 'own' }],
    },
  },
  {
    why: "the first update of a claim is stored upstream even when it changes nothing",
    is: ({ name, told }) => /the version moved upstream only/.test(name) && told.startsWith('PersistentVolumeClaim'),
    steps: {
      kind: 'PersistentVolumeClaim',
      collection: (namespace) => `/api/v1/namespaces/${namespace}/persistentvolumeclaims`,
      list: [{ method: 'POST', body: { metadata: { name: 'known' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } } }, { method: 'PUT', body: 'own' }],
    },
  },
  {
    why: 'an apply with labels that are empty stores them upstream, so the next write of a custom resource that changes nothing moves its version',
    is: ({ name, told }) => /the version moved upstream only/.test(name) && told.startsWith('Thing PATCH'),
    steps: {
      kind: 'Thing',
      collection: (namespace, group) => `/apis/${group}/v1/namespaces/${namespace}/things`,
      list: [{ labels: {} }, {}].map((metadata, at) => ({ method: 'PATCH', query: `?fieldManager=m${at}&force=true`, body: (group) => ({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'known', ...metadata }, ...(at === 0 && { spec: { color: 'red' } }) }), type: types.apply })),
    },
  },
  {
    why: 'an apply to an object whose list items have no keys names the applied items, upstream the stored ones',
    is: ({ name }) => /failed to create manager for existing fields.*smd typed/.test(name),
    shown: (namespace) => [
      request('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'known' }, secrets: [{}] }),
      request('PATCH', `/api/v1/namespaces/${namespace}/serviceaccounts/known?fieldManager=one`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'known' }, secrets: [{}] }, types.apply),
    ],
  },
];
