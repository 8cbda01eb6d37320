// Definitions of custom resources that change while there are objects: fields, rules, versions, columns, selectable fields, subresources, names; and how their objects are read, written, selected and shown after each change.
import { schema } from '../custom-cases.mjs';
import { patchTypes, tables, until } from './objects.mjs';

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const whole = { type: 'object', properties: { spec: { type: 'object', properties: { color: { type: 'string', default: 'red' }, count: { type: 'integer' }, kept: { type: 'string' } } }, status: { type: 'object', properties: { phase: { type: 'string' } } } } };
const clone = structuredClone;

const changes = {
  rich: (one) => { one.versions[0].schema = { openAPIV3Schema: clone(schema) }; },
  plain: (one) => { one.versions[0].schema = { openAPIV3Schema: clone(whole) }; },
  open: (one) => { one.versions[0].schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }; },
  stricter: (one) => { one.versions[0].schema = { openAPIV3Schema: clone(whole) }; Object.assign(one.versions[0].schema.openAPIV3Schema.properties.spec.properties.count, { maximum: 3 }); },
  ruled: (one) => { one.versions[0].schema = { openAPIV3Schema: clone(whole) }; one.versions[0].schema.openAPIV3Schema['x-kubernetes-validations'] = [{ rule: "!has(self.spec) || self.spec.color != 'blue'", message: 'no blue' }, { rule: 'self.metadata.name != "n3"', reason: 'FieldValueForbidden' }, { rule: '!has(oldSelf.spec) || !has(self.spec) || self.spec.color == oldSelf.spec.color' }]; },
  second: (one) => { one.versions.splice(1, 9, { ...clone(one.versions[0]), name: 'v1beta1', storage: false, deprecated: true }); },
  warned: (one) => { one.versions.splice(1, 9, { ...clone(one.versions[0]), name: 'v2alpha1', storage: false, deprecated: true, deprecationWarning: 'use v1 "soon"' }); },
  stored: (one) => { if (one.versions[1]) { one.versions[0].storage = false; one.versions[1].storage = true; } },
  storedAgain: (one) => { for (const [at, version] of one.versions.entries()) version.storage = at === 0; },
  unserved: (one) => { if (one.versions[1]) one.versions[1].served = false; },
  single: (one) => { one.versions.splice(1); one.versions[0].storage = true; },
  columns: (one) => { one.versions[0].additionalPrinterColumns = [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }, { name: 'Count', type: 'integer', jsonPath: '.spec.count', priority: 1 }, { name: 'Born', type: 'date', jsonPath: '.metadata.creationTimestamp' }]; },
  noColumns: (one) => { delete one.versions[0].additionalPrinterColumns; },
  selectable: (one) => { one.versions[0].selectableFields = [{ jsonPath: '.spec.color' }]; },
  notSelectable: (one) => { delete one.versions[0].selectableFields; },
  status: (one) => { one.versions[0].subresources = { status: {} }; },
  scale: (one) => { one.versions[0].subresources = { status: {}, scale: { specReplicasPath: '.spec.count', statusReplicasPath: '.status.count', labelSelectorPath: '.status.selector' } }; },
  noSubresources: (one) => { delete one.versions[0].subresources; },
  short: (one) => { one.names.shortNames = ['th', 'tg']; one.names.categories = ['all', 'stuff']; },
  badShort: (one) => { one.names.shortNames = ['Bad']; },
  kind: (one) => { one.names.kind = 'Other'; },
  scope: (one) => { one.scope = 'Cluster'; },
  preserve: (one) => { one.preserveUnknownFields = true; },
  noStorage: (one) => { one.versions[0].storage = false; },
  conversion: (one) => { one.conversion = { strategy: 'Webhook' }; },
};

export async function definitions({ ask, both, chance, namespace, mark }) {
  const group = `g${mark}.example.com`;
  const item = `${path}/things.${group}`;
  const spec = { group, scope: 'Namespaced', names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: whole } }] };
  await ask('POST', path, { metadata: { name: `things.${group}`, ...(chance.chance(0.3) && { annotations: { 'api-approved.kubernetes.io': 'x' } }) }, spec });
  const served = () => until(() => both('GET', `/apis/${group}/v1/namespaces/${namespace}/things`), ({ status }) => status === 200);
  await served();
  for (let round = 0; round < 20; round += 1) {
    const stored = await both('GET', item);
    const wanted = [chance.pick(Object.keys(changes)), ...(chance.chance(0.4) ? [chance.pick(Object.keys(changes))] : [])];
    const put = (side) => {
      const body = clone(stored[side].body);
      for (const name of wanted) changes[name](body.spec);
      return body;
    };
    if (stored.every(({ status }) => status === 200)) await ask('PUT', `${item}${chance.pick(['', '', '', '?dryRun=All', '?fieldValidation=Strict'])}`, put);
    // Either serves the change a moment after it was written.
    await new Promise((resume) => setTimeout(resume, 500));
    await ask('GET', item);
    await ask('GET', `/apis/${group}`);
    await ask('GET', `/apis/${group}/v1`);
    for (let step = 0; step < 8; step += 1) await object({ ask, chance, group, namespace });
  }
  await ends({ ask, both, chance, group, namespace, item });
}

async function object({ ask, chance, group, namespace }) {
  const version = chance.pick(['v1', 'v1', 'v1', 'v1beta1', 'v2alpha1']);
  const things = `/apis/${group}/${version}/namespaces/${namespace}/things`;
  const name = `n${chance.below(4)}`;
  const body = { apiVersion: `${group}/${version}`, kind: 'Thing', metadata: { name, labels: { tier: chance.pick(['a', 'b']) } }, spec: { ...(chance.chance(0.7) && { color: chance.pick(['red', 'green', 'blue']) }), ...(chance.chance(0.6) && { count: chance.pick([1, 2, 5, 'x']) }), ...(chance.chance(0.3) && { unknown: 'x' }), ...(chance.chance(0.3) && { kept: 'x' }) } };
  const query = chance.pick(['', '', '?dryRun=All', '?fieldValidation=Strict', '?fieldValidation=Ignore']);
  const way = chance.below(10);
  if (way < 3) await ask('POST', `${things}${query}`, body);
  if (way === 3) await ask('PATCH', `${things}/${name}${query}`, { spec: { count: chance.pick([1, 4, null]), more: 1 } }, { type: chance.pick([patchTypes.merge, patchTypes.merge, patchTypes.strategic]) });
  if (way === 4) await ask('PATCH', `${things}/${name}?fieldManager=${chance.pick(['one', 'two'])}${chance.pick(['', '&force=true'])}`, body, { type: patchTypes.apply });
  if (way === 5) await ask('PATCH', `${things}/${name}/status`, { status: { phase: 'Done', count: 2, other: 1 } }, { type: patchTypes.merge });
  if (way === 6) await ask(chance.pick(['GET', 'PATCH']), `${things}/${name}/scale`, { spec: { replicas: chance.pick([1, 3]) } }, { type: patchTypes.merge });
  if (way === 7) await ask('DELETE', `${things}/${name}`);
  if (way === 8) await ask('GET', `${things}?fieldSelector=${chance.pick(['spec.color%3Dred', 'spec.color!%3Dred', 'spec.count%3D1', `metadata.name%3D${name}`])}`);
  if (way === 9) await ask('GET', `${things}?labelSelector=tier%3Da&limit=2`, undefined, { accept: chance.pick([tables.Table, tables.MetadataList]) });
  await ask('GET', `${things}/${name}`, undefined, { accept: chance.pick(['application/json', 'application/json', tables.Table, tables.Metadata]) });
}

async function ends({ ask, both, chance, group, namespace, item }) {
  const things = `/apis/${group}/v1/namespaces/${namespace}/things`;
  await both('POST', things, { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'held', finalizers: ['example.com/hold'] }, spec: { color: 'red' } });
  await ask('DELETE', item, chance.pick([{}, { propagationPolicy: 'Foreground' }, { dryRun: ['All'] }, { preconditions: { uid: 'x' } }]));
  await new Promise((resume) => setTimeout(resume, 1500));
  await ask('GET', item);
  await ask('POST', things, { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'late' }, spec: { color: 'red' } });
  await ask('GET', `${things}/held`);
  await ask('PATCH', `${things}/held`, { metadata: { finalizers: null } }, { type: patchTypes.merge });
  await both('DELETE', item);
  await until(() => both('GET', item), ({ status }) => status === 404, 200);
  await ask('GET', item);
  await ask('GET', things);
}
