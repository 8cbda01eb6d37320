// Managers who apply parts of the same objects: conflicts, force, fields given up, lists by keys, updates and statuses between applies, and what managedFields say of it all.
import { patchTypes } from './objects.mjs';

const managers = ['one', 'two', 'three', 'kubectl'];

/** A part of a value, as one of several appliers has it. */
function part(chance, value, share) {
  if (Array.isArray(value)) return value.filter(() => chance.chance(0.7)).map((item) => (typeof item === 'object' ? { ...keysOf(item), ...part(chance, item, share) } : item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(() => chance.chance(share)).map(([key, one]) => [key, part(chance, one, share)]));
}
const keysOf = (item) => Object.fromEntries(['name', 'containerPort', 'protocol', 'port', 'type', 'ip', 'mountPath', 'topologyKey', 'whenUnsatisfiable'].filter((key) => key in item).map((key) => [key, item[key]]));

const labels = (chance) => ({ tier: chance.pick(['a', 'b']), team: chance.pick(['x', 'y']) });

const kinds = {
  deployment: (chance) => ({
    apiVersion: 'apps/v1', kind: 'Deployment', path: 'apis/apps/v1', resource: 'deployments',
    body: {
      replicas: chance.pick([1, 2, 3]), paused: chance.chance(0.3), selector: { matchLabels: { app: 'x' } }, strategy: chance.pick([{ type: 'Recreate' }, { type: 'RollingUpdate', rollingUpdate: { maxSurge: chance.pick([1, '50%']) } }]),
      template: {
        metadata: { labels: { app: 'x', ...labels(chance) }, annotations: { note: chance.pick(['1', '2']) } },
        spec: {
          containers: ['c', 'd'].map((name) => ({
            name, image: chance.pick(['i', 'j']), args: chance.pick([['a'], ['b', 'c']]), env: ['A', 'B'].map((key) => ({ name: key, value: chance.pick(['1', '2']) })),
            ports: [{ containerPort: 80, protocol: 'TCP', name: chance.pick(['http', 'web']) }, { containerPort: 81 }], resources: { requests: { cpu: chance.pick(['1', '1000m', '500m']) } }, volumeMounts: [{ name: 'v', mountPath: '/v' }],
          })),
          volumes: [{ name: 'v', ...chance.pick([{ emptyDir: {} }, { configMap: { name: 'm', items: [{ key: 'k', path: 'p' }] } }]) }], nodeSelector: { disk: chance.pick(['ssd', 'hdd']) },
          tolerations: [{ key: 'a', operator: 'Exists' }, { key: chance.pick(['b', 'c']), operator: 'Equal', value: 'x' }], topologySpreadConstraints: [{ maxSkew: chance.pick([1, 2]), topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
        },
      },
    },
  }),
  service: (chance) => ({
    apiVersion: 'v1', kind: 'Service', path: 'api/v1', resource: 'services',
    body: { type: chance.pick(['ClusterIP', 'ClusterIP', 'NodePort', 'LoadBalancer']), selector: { app: chance.pick(['x', 'y']) }, ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: chance.pick([8080, 'web']) }, { name: 'dns', port: 53, protocol: 'UDP' }, { name: 'dns-tcp', port: 53 }], sessionAffinity: chance.pick(['None', 'ClientIP']), externalIPs: ['1.2.3.4'] },
  }),
  configmap: (chance) => ({ apiVersion: 'v1', kind: 'ConfigMap', path: 'api/v1', resource: 'configmaps', whole: { data: { a: chance.pick(['1', '2']), b: chance.pick(['1', '2']), c: '3' }, immutable: chance.chance(0.05) } }),
  role: (chance) => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', path: 'apis/rbac.authorization.k8s.io/v1', resource: 'roles', whole: { rules: [{ apiGroups: [''], resources: chance.pick([['pods'], ['pods', 'secrets']]), verbs: ['get'] }] } }),
  networkpolicy: (chance) => ({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', path: 'apis/networking.k8s.io/v1', resource: 'networkpolicies', body: { podSelector: { matchLabels: { app: chance.pick(['x', 'y']) } }, policyTypes: chance.pick([['Ingress'], ['Ingress', 'Egress']]), ingress: [{ from: [{ podSelector: {} }], ports: [{ port: chance.pick([80, 'web']) }] }] } }),
};

export async function applies({ ask, both, chance, namespace }) {
  for (const [name, draw] of Object.entries(kinds)) {
    const { path, resource, apiVersion, kind } = draw(chance);
    const item = `/${path}/namespaces/${namespace}/${resource}/${name}`;
    const stated = { apiVersion, kind };
    const body = (share) => {
      const { body: spec, whole } = draw(chance);
      const drawn = part(chance, spec ? { spec } : whole, share);
      return { ...stated, metadata: { name, ...part(chance, { labels: labels(chance), annotations: { note: chance.pick(['1', '2']) }, finalizers: ['example.com/hold'] }, 0.5) }, ...drawn };
    };
    for (let step = 0; step < 30; step += 1) await write({ ask, chance, item, body, stated, name, draw });
    await both('PATCH', item, { metadata: { finalizers: null } }, { type: patchTypes.merge });
  }
}

async function write({ ask, chance, item, body, name, draw }) {
  const way = chance.below(10);
  const manager = chance.pick(managers);
  const dry = chance.chance(0.1) ? '&dryRun=All' : '';
  const given = body(chance.pick([0.4, 0.7, 0.95, 1]));
  if (way < 6) {
    const query = `fieldManager=${manager}${chance.pick(['', '', '&force=true', '&force=false'])}${dry}${chance.pick(['', '', '&fieldValidation=Strict'])}`;
    await ask('PATCH', `${item}?${query}`, given, { type: patchTypes.apply });
  } else if (way === 6) {
    const { metadata, ...rest } = given;
    await ask('PATCH', `${item}?fieldManager=${manager}${dry}`, { metadata: { labels: metadata.labels }, ...rest }, { type: chance.pick([patchTypes.merge, patchTypes.strategic]) });
  } else if (way === 7) {
    const { body: spec, whole } = draw(chance);
    await ask('PUT', `${item}?fieldManager=${manager}${dry}`, { ...given, metadata: { name, labels: given.metadata.labels }, ...(spec ? { spec } : whole) });
  } else if (way === 8) await ask('PATCH', `${item}?fieldManager=${manager}${dry}`, chance.pick([[{ op: 'remove', path: '/metadata/managedFields' }], [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }], [{ op: 'replace', path: '/metadata/managedFields/0/manager', value: 'renamed' }], [{ op: 'add', path: '/metadata/labels', value: { team: 'z' } }]]), { type: patchTypes.json });
  else if (given.spec && name !== 'networkpolicy') {
    const status = name === 'deployment' ? { replicas: 1, conditions: [{ type: chance.pick(['Available', 'Progressing']), status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' }] } : { loadBalancer: { ingress: [{ ip: chance.pick(['1.2.3.4', '1.2.3.5']) }] } };
    await ask('PATCH', `${item}/status?fieldManager=${manager}${chance.pick(['', '&force=true'])}`, { apiVersion: given.apiVersion, kind: given.kind, metadata: { name }, status }, { type: patchTypes.apply });
    if (name === 'deployment') await ask('PATCH', `${item}/scale?fieldManager=scaler${chance.pick(['', '&force=true'])}`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name }, spec: { replicas: chance.pick([1, 2, 4]) } }, { type: patchTypes.apply });
  }
  await ask('GET', item);
}
