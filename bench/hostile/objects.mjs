// Objects that are refused, or accepted, after much work: thousands of bad items, patches that move long lists, fields of many owners. They need the
// right to write a few kinds, as every tenant has it in a namespace.
import { repeat, times } from './lib/repeat.mjs';

const namespace = '/api/v1/namespaces/default';
const admin = ({ adminToken }) => ({ token: adminToken });
const pod = (spec) => ({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
const create = (kind, body, query = '?dryRun=All') =>
  repeat((_, target) => ({ path: `${namespace}/${kind}${query}`, body, ...admin(target) }));
const owner = (at) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${at}`, uid: `u${at}`, controller: true });
const bad = Object.fromEntries(times(35_000, (at) => [`-${at}`, '!']));
const data = (value) => Object.fromEntries(times(30_000, (at) => [`k${at}`, value]));
const manager = (at) => ({
  ...{ manager: `m${at}`, operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1' },
  fieldsV1: { 'f:data': Object.fromEntries(times(200, (field) => [`f:k${field}`, {}])) },
});

const apply = (path) =>
  repeat((at, target) => ({
    method: 'PATCH',
    path: `${path}?fieldManager=m${at % 2}`,
    body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: data(`v${at % 2}`) }),
    contentType: 'application/apply-patch+yaml',
    ...admin(target),
  }));

const moves = times(9_000, () => ({ op: 'move', from: '/metadata/finalizers/0', path: '/metadata/finalizers/9999' }));
const copies = times(25, () => ({ op: 'copy', from: '/data', path: '/data/a' }));
const patched = (body) =>
  repeat((_, target) => ({
    method: 'PATCH',
    path: `${namespace}/configmaps/patched?dryRun=All`,
    body: JSON.stringify(body),
    contentType: 'application/json-patch+json',
    ...admin(target),
  }));
const prepare = async ({ ask, adminToken }) => {
  const finalizers = times(10_000, (at) => `a.example.com/f${at}`);
  await ask(
    'POST',
    `${namespace}/configmaps`,
    { metadata: { name: 'patched', finalizers }, data: { a: 'x' } },
    { token: adminToken },
  );
};

export default [
  { name: 'objects, 24,000 bad containers', run: create('pods', pod({ containers: times(24_000, () => ({ name: 'A b' })) })) },
  { name: 'objects, 35,000 bad labels', run: create('configmaps', { metadata: { name: 'a', labels: bad } }) },
  {
    name: 'objects, 8,000 owners that are the one',
    run: create('configmaps', { metadata: { name: 'a', ownerReferences: times(8_000, owner) } }),
  },
  {
    name: 'objects, 16,000 variables of a container',
    run: create(
      'pods',
      pod({ containers: [{ name: 'c', image: 'i', env: times(16_000, (at) => ({ name: `e${at}`, value: 'x' })) }] }),
    ),
  },
  {
    name: 'objects, fields of 200 owners',
    run: create('configmaps', { metadata: { name: 'a', managedFields: times(200, manager) } }),
  },
  { name: 'patch, JSON patch that moves 9,000 times', prepare, run: patched(moves) },
  { name: 'patch, JSON patch that copies copies', prepare, run: patched(copies) },
  { name: 'patch, apply of 30,000 fields by two in turn', run: apply(`${namespace}/configmaps/applied`) },
];
