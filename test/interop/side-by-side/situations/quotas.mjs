// Quotas and limit ranges: what they refuse, fill in and count, with scopes, dry runs and objects of every kind that counts. The status of a quota, which a loop would write, is written here.
import { claim, configMap, deployment, patchTypes, pod, service, until } from './objects.mjs';

const hards = [
  { pods: '2', configmaps: '3' },
  { 'requests.cpu': '1', 'limits.memory': '1Gi' },
  { cpu: '500m', memory: '512Mi', 'count/deployments.apps': '1' },
  { services: '2', 'services.nodeports': '1', 'services.loadbalancers': '1' },
  { persistentvolumeclaims: '2', 'requests.storage': '3Gi', 'fast.storageclass.storage.k8s.io/requests.storage': '1Gi' },
  { 'requests.example.com/gpu': '1', 'requests.ephemeral-storage': '1Gi' },
  { 'count/pods': '1', 'count/secrets': '1' },
  { cpu: 'x' }, { 'limits.example.com/gpu': '1' }, { pods: '-1' }, { pods: '1.5' }, { nothing: '1' }, {}, { 'count/': '1' },
];
const scopes = [undefined, undefined, { scopes: ['BestEffort'] }, { scopes: ['NotBestEffort'] }, { scopes: ['Terminating'] }, { scopes: ['NotTerminating', 'BestEffort'] }, { scopes: ['BestEffort', 'NotBestEffort'] }, { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] } }, { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists' }] } }, { scopes: ['CrossNamespacePodAffinity'] }, { scopeSelector: { matchExpressions: [{ scopeName: 'BestEffort', operator: 'In', values: ['x'] }] } }, { scopes: ['Bad'] }];
const resources = [{}, { requests: { cpu: '100m' } }, { requests: { cpu: '2' } }, { limits: { cpu: '1', memory: '256Mi' } }, { limits: { memory: '2Gi' }, requests: { memory: '1Gi', cpu: '0' } }, { requests: { cpu: '2' }, limits: { cpu: '1' } }, { limits: { 'example.com/gpu': '1' } }, { limits: { 'example.com/gpu': '2' } }, { requests: { 'ephemeral-storage': '2Gi' } }, { limits: { cpu: '300m' }, requests: { cpu: '299m', memory: '1' } }];
const ranges = [
  [{ type: 'Container', default: { cpu: '200m', memory: '128Mi' }, defaultRequest: { cpu: '100m' }, max: { cpu: '1' }, min: { cpu: '50m' } }],
  [{ type: 'Container', max: { memory: '512Mi' } }, { type: 'Pod', max: { cpu: '1' }, min: { memory: '1Mi' } }],
  [{ type: 'Container', maxLimitRequestRatio: { cpu: '2', memory: '1.5' } }],
  [{ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } }],
  [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }],
  [{ type: 'Container', default: { cpu: '2' }, max: { cpu: '1' } }],
  [{ type: 'Pod', default: { cpu: '2' } }],
  [{ type: 'Container', max: { 'example.com/gpu': '1' } }, { type: 'Container', min: { cpu: '1m' } }],
  [{ type: 'Bad' }],
];

export async function quotas({ ask, both, chance, namespace }) {
  const core = `/api/v1/namespaces/${namespace}`;
  await both('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'high' }, value: 1000 });
  const makers = {
    [`${core}/pods`]: (name) => pod(name, { container: { resources: chance.pick(resources) }, spec: { ...(chance.chance(0.2) && { activeDeadlineSeconds: 5 }), ...(chance.chance(0.2) && { priorityClassName: chance.pick(['high', 'none']) }), ...(chance.chance(0.2) && { initContainers: [{ name: 'init', image: 'i', resources: chance.pick(resources) }] }), ...(chance.chance(0.1) && { overhead: { cpu: '1' } }) } }),
    [`${core}/configmaps`]: configMap,
    [`${core}/secrets`]: (name) => ({ metadata: { name } }),
    [`${core}/services`]: (name) => service(name, chance.pick([{}, { type: 'NodePort' }, { type: 'LoadBalancer' }, { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }])),
    [`${core}/persistentvolumeclaims`]: (name) => claim(name, chance.pick(['1Gi', '2Gi', '500Mi', '5Gi']), chance.pick([{}, { storageClassName: 'fast' }])),
    [`/apis/apps/v1/namespaces/${namespace}/deployments`]: (name) => deployment(name),
  };
  const name = () => `n${chance.below(6)}`;
  for (let step = 0; step < 90; step += 1) {
    const draw = chance.below(12);
    if (draw === 0) await quota({ ask, both, chance, core });
    else if (draw === 1) await range({ ask, chance, core, both });
    else {
      const path = chance.pick(Object.keys(makers));
      const item = `${path}/${name()}`;
      if (draw < 8) await ask('POST', `${path}${chance.pick(['', '', '', '?dryRun=All'])}`, makers[path](name()));
      else if (draw < 10) await both('DELETE', `${item}?gracePeriodSeconds=0`);
      else if (path.endsWith('services')) await ask('PATCH', item, { spec: { type: chance.pick(['NodePort', 'ClusterIP', 'LoadBalancer']) } }, { type: patchTypes.merge });
      else if (path.endsWith('pods')) await ask('PATCH', `${item}/resize`, { spec: { containers: [{ name: 'c', resources: chance.pick(resources) }] } }, { type: patchTypes.strategic });
      else await ask('PATCH', item, { spec: { resources: { requests: { storage: '4Gi' } } } }, { type: patchTypes.merge });
      await ask('GET', `${core}/resourcequotas`);
      if (draw < 10) await ask('GET', item);
    }
  }
}

async function quota({ ask, both, chance, core }) {
  const name = chance.pick(['q1', 'q2']);
  const path = `${core}/resourcequotas`;
  if (chance.chance(0.3)) await both('DELETE', `${path}/${name}`);
  const spec = { hard: chance.pick(hards), ...chance.pick(scopes) };
  const [made] = await ask('POST', path, { metadata: { name }, spec });
  if (made.status !== 201) await ask('PATCH', `${path}/${name}`, { spec: { hard: chance.pick(hards) } }, { type: chance.pick([patchTypes.merge, patchTypes.strategic]) });
  const [stored] = await both('GET', `${path}/${name}`);
  if (stored.status !== 200 || chance.chance(0.15)) return;
  const { hard = {} } = stored.body.spec;
  await ask('PATCH', `${path}/${name}/status`, { status: { hard, used: Object.fromEntries(Object.keys(hard).map((key) => [key, '0'])) } }, { type: patchTypes.merge });
  await new Promise((resume) => setTimeout(resume, 150));
}

async function range({ ask, both, chance, core }) {
  const path = `${core}/limitranges`;
  await both('DELETE', `${path}/r`);
  const made = await ask('POST', path, { metadata: { name: 'r' }, spec: { limits: chance.pick(ranges) } });
  const wanted = made.every(({ status }) => status === 201);
  // A pod that both judge by the new range, or the old one's end: the caches of either are behind for a moment.
  await until(() => both('GET', `${path}/r`), ({ status }) => (status === 200) === wanted);
  await new Promise((resume) => setTimeout(resume, 300));
}
