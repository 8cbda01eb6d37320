// The steps of a played sequence: each draws one request about a thing from what upstream's apiserver has of it. A request has a body for either server: what both drew by themselves (uids,
// versions, times, addresses) is each server's own.
import { mergeBetween } from './odd-objects.mjs';

const json = 'application/json';
const patchTypes = { merge: 'application/merge-patch+json', json: 'application/json-patch+json', strategic: 'application/strategic-merge-patch+json', apply: 'application/apply-patch+yaml' };
const forms = { Table: 'application/json;as=Table;g=meta.k8s.io;v=v1', PartialObjectMetadata: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', yaml: 'application/yaml' };
export const listForms = { ...forms, PartialObjectMetadata: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' };
/** Kinds that only their name makes what they are. */
const named = new Set(['IPAddress', 'ResourceSlice', 'CSINode', 'CustomResourceDefinition']);

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** What `body`, made of `theirs`, is when it is made of `ours`: every value that is still theirs becomes ours. */
function carry(body, theirs, ours) {
  if (theirs === undefined || ours === undefined) return body;
  if (same(body, theirs)) return ours;
  if (isObject(body) && isObject(theirs) && isObject(ours)) return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, carry(value, theirs[key], ours[key])]));
  if (Array.isArray(body) && Array.isArray(theirs) && Array.isArray(ours)) return body.map((value, at) => carry(value, theirs[at], ours[at]));
  return body;
}

/** JSON patch operations for what a merge patch says. */
function operations(patch, before, path = '') {
  return Object.entries(patch).flatMap(([key, value]) => {
    const at = `${path}/${key.replace(/~/g, '~0').replace(/\//g, '~1')}`;
    // Without its version an object is read as another one, of whose unknown fields upstream warns.
    if (at === '/apiVersion') return [];
    if (value === null) return [{ op: 'remove', path: at }];
    if (isObject(value) && isObject(before?.[key])) return operations(value, before[key], at);
    return [{ op: before?.[key] === undefined ? 'add' : 'replace', path: at, value }];
  });
}

const orderOf = (list) => list.map((item) => (isObject(item) ? { name: item.name } : item));

export function stepForms({ chance, odd }) {
  const { pick } = chance;
  const maybe = (share, value) => (chance.chance(share) ? [value] : []);
  const query = (list) => (list.length === 0 ? '' : `?${list.join('&')}`);
  const item = (thing) => `${thing.kind.collection}/${thing.name}`;
  const writeQuery = (...more) => query([...more, ...maybe(0.4, `fieldManager=${pick(['one', 'two'])}`), ...maybe(0.15, 'dryRun=All'), ...maybe(0.2, `fieldValidation=${pick(['Strict', 'Warn', 'Ignore'])}`)]);
  const bodies = (thing, body, [theirs, ours] = thing.last) => [body, carry(body, theirs, ours)].map((one) => JSON.stringify(one));
  const write = (method, path, body, type = json) => ({ method, path, headers: { 'content-type': type }, bodies: body });

  const metadataChanges = {
    labels: (metadata) => { metadata.labels = { ...metadata.labels, [pick(['tier', 'app', 'b'])]: pick(['a', 'b', 'c']) }; },
    unlabelled: (metadata) => { delete metadata.labels; },
    annotations: (metadata) => { metadata.annotations = { ...metadata.annotations, [pick(['note', 'example.com/x'])]: pick(['1', '2', '']) }; },
    unannotated: (metadata) => { delete metadata.annotations; },
    finalizers: (metadata) => { metadata.finalizers = pick([['example.com/hold'], ['example.com/hold', 'example.com/more'], [...(metadata.finalizers ?? []), 'example.com/late'], [], ['foregroundDeletion'], ['orphan']]); },
    unfinalized: (metadata) => { delete metadata.finalizers; },
    owners: (metadata) => { metadata.ownerReferences = pick([[], [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u-1' }], [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'o', uid: 'u-2', controller: true, blockOwnerDeletion: true }, { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u-3' }]]); },
    managed: (metadata) => { metadata.managedFields = pick([[], [{}], [...(metadata.managedFields ?? [])].reverse(), (metadata.managedFields ?? []).slice(1)]); },
    grace: (metadata) => { metadata.deletionGracePeriodSeconds = pick([0, 5]); },
    generation: (metadata) => { metadata.generation = 7; },
    renamed: (metadata) => { metadata.name = 'other'; },
  };
  const common = ['labels', 'labels', 'unlabelled', 'annotations', 'annotations', 'unannotated', 'finalizers', 'unfinalized', 'unfinalized', 'owners'];

  /** The thing as upstream has it, changed in a place or two. */
  function changed(thing) {
    const object = structuredClone(thing.last[0]);
    const kind = chance.chance(0.45) ? 'anywhere' : chance.chance(0.9) ? pick(common) : pick(Object.keys(metadataChanges));
    if (kind !== 'anywhere') metadataChanges[kind](object.metadata);
    return kind === 'anywhere' || chance.chance(0.2) ? odd.changed(thing.kind.typeName, object) : object;
  }

  /** A part of the thing, as somebody applies it. */
  function part(value, share) {
    if (Array.isArray(value)) return value.filter(() => chance.chance(share)).map((one) => (isObject(one) ? { ...(one.name !== undefined && { name: one.name }), ...part(one, Math.max(share, 0.7)) } : one));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).flatMap(([key, one]) => (chance.chance(share) ? [[key, part(one, share)]] : [])));
  }

  const stated = ({ kind }) => ({ apiVersion: kind.valid.apiVersion, kind: kind.valid.kind });

  /** Lists in a strategic patch: whole, an element, a deletion, a replacement, an order. */
  function directives(patch) {
    for (const [key, value] of Object.entries(patch)) {
      if (isObject(value)) { directives(value); continue; }
      if (!Array.isArray(value) || value.length === 0) continue;
      const first = value[0];
      const way = pick(['whole', 'whole', 'one', 'delete', 'replace', 'order', 'primitive']);
      if (way === 'one') patch[key] = [first];
      if (way === 'delete' && isObject(first)) patch[key] = [{ ...first, $patch: 'delete' }];
      if (way === 'replace') patch[key] = [...value, { $patch: 'replace' }];
      if (way === 'order') patch[`$setElementOrder/${key}`] = orderOf(value).reverse();
      if (way === 'primitive' && !isObject(first)) { delete patch[key]; patch[`$deleteFromPrimitiveList/${key}`] = [first]; }
    }
    if (chance.chance(0.05)) patch.$patch = pick(['replace', 'merge', 'delete']);
    if (chance.chance(0.03)) patch.$retainKeys = Object.keys(patch).filter((key) => !key.startsWith('$'));
    return patch;
  }

  function statusOf(thing, object) {
    const schema = { ...stated(thing), metadata: object.metadata, status: object.status ?? {} };
    return odd.changedIn(thing.kind.typeName, schema, 'status').status;
  }
  const has = (thing, name, verb) => thing.kind.subresources.some((one) => one.name === name && one.verbs.includes(verb));
  const at = (thing, mode) => (mode === 'stale' && thing.older.length > 0 ? thing.older[chance.below(thing.older.length)] : thing.last);
  const versionOf = (thing, mode) => at(thing, mode).map((one) => one?.metadata.resourceVersion);

  const absent = {
    create(thing) {
      const body = structuredClone(thing.kind.valid);
      Object.assign(body.metadata, { name: thing.name }, chance.chance(0.5) && { labels: { tier: pick(['a', 'b']), ...body.metadata.labels } }, chance.chance(0.15) && { finalizers: ['example.com/hold'] });
      const object = chance.chance(0.3) ? odd.changed(thing.kind.typeName, body) : body;
      return write('POST', `${thing.kind.collection}${writeQuery()}`, [object, object].map((one) => JSON.stringify(one)));
    },
    applied(thing) {
      const body = { ...stated(thing), ...part(thing.kind.valid, 0.9), metadata: { name: thing.name, labels: { tier: pick(['a', 'b']) } } };
      return write('PATCH', `${item(thing)}${query([`fieldManager=${pick(['one', 'two', 'three'])}`, ...maybe(0.3, 'force=true'), ...maybe(0.2, 'dryRun=All')])}`, [body, body].map((one) => JSON.stringify(one)), patchTypes.apply);
    },
    put(thing) {
      const body = structuredClone(thing.kind.valid);
      Object.assign(body.metadata, { name: thing.name }, chance.chance(0.3) && { resourceVersion: pick(['', '0', '1']) }, chance.chance(0.2) && { uid: 'x' });
      return write('PUT', `${item(thing)}${writeQuery()}`, [body, body].map((one) => JSON.stringify(one)));
    },
    patchNothing: (thing) => write('PATCH', `${item(thing)}${writeQuery()}`, Array(2).fill('{"metadata":{"labels":{"a":"b"}}}'), pick([patchTypes.merge, patchTypes.strategic])),
    deleteNothing: (thing) => ({ method: 'DELETE', path: item(thing), headers: {} }),
    getNothing: (thing) => ({ method: 'GET', path: item(thing), headers: {} }),
    generated(thing) {
      const body = structuredClone(thing.kind.valid);
      if (named.has(thing.kind.kind)) return undefined;
      body.metadata = { ...body.metadata, name: undefined, generateName: 'gen-' };
      return write('POST', `${thing.kind.collection}?dryRun=All`, [body, body].map((one) => JSON.stringify(one)));
    },
  };

  const present = {
    again: (thing) => absent.create(thing),
    update(thing) {
      const object = changed(thing);
      const mode = pick(['current', 'current', 'current', 'none', 'stale', 'stale']);
      const versions = versionOf(thing, mode);
      const made = [object, carry(object, ...thing.last)].map((one, side) => ({ ...one, metadata: { ...one.metadata, resourceVersion: mode === 'none' ? undefined : versions[side] } }));
      return write('PUT', `${item(thing)}${writeQuery()}`, made.map((one) => JSON.stringify(one)));
    },
    unchanged: (thing) => write('PUT', `${item(thing)}${writeQuery()}`, bodies(thing, thing.last[0])),
    merge(thing) {
      const patch = mergeBetween(thing.last[0], changed(thing));
      const versions = versionOf(thing, chance.chance(0.5) ? 'stale' : 'current');
      const guarded = chance.chance(0.2);
      const made = [patch, carry(patch, ...thing.last)].map((one, side) => (guarded ? { ...one, metadata: { ...one.metadata, resourceVersion: versions[side] } } : one));
      return write('PATCH', `${item(thing)}${writeQuery()}`, made.map((one) => JSON.stringify(one)), patchTypes.merge);
    },
    strategic: (thing) => write('PATCH', `${item(thing)}${writeQuery()}`, bodies(thing, directives(mergeBetween(thing.last[0], changed(thing)))), patchTypes.strategic),
    jsonPatch(thing) {
      const list = operations(mergeBetween(thing.last[0], changed(thing)), thing.last[0]);
      const versions = versionOf(thing, pick(['current', 'stale']));
      const guarded = chance.chance(0.3);
      const made = versions.map((value) => [...(guarded ? [{ op: 'test', path: '/metadata/resourceVersion', value }] : []), ...list]);
      return write('PATCH', `${item(thing)}${writeQuery()}`, made.map((one) => JSON.stringify(one)), patchTypes.json);
    },
    apply(thing) {
      const { metadata, status: _, ...rest } = changed(thing);
      const { labels, annotations, finalizers, ownerReferences } = metadata ?? {};
      const kept = part({ labels, annotations, finalizers, ownerReferences }, 0.7);
      const body = { ...part(rest, pick([0.3, 0.8, 1])), ...stated(thing), metadata: { name: thing.name, ...kept } };
      const guarded = chance.chance(0.1);
      const versions = versionOf(thing, pick(['current', 'stale']));
      const made = [body, carry(body, ...thing.last)].map((one, side) => (guarded ? { ...one, metadata: { ...one.metadata, resourceVersion: versions[side] } } : one));
      const parameters = [`fieldManager=${pick(['one', 'two', 'three'])}`, ...maybe(0.6, 'force=true'), ...maybe(0.1, 'dryRun=All'), ...maybe(0.2, 'fieldValidation=Strict')];
      return write('PATCH', `${item(thing)}${query(parameters)}`, made.map((one) => JSON.stringify(one)), patchTypes.apply);
    },
    status(thing) {
      if (!has(thing, 'status', 'update')) return undefined;
      const object = structuredClone(thing.last[0]);
      const status = statusOf(thing, object);
      const way = pick(['put', 'merge', 'strategic', 'apply']);
      if (way === 'put') return write('PUT', `${item(thing)}/status${writeQuery()}`, bodies(thing, { ...(chance.chance(0.5) ? changed(thing) : object), status }));
      const body = way === 'apply' ? { ...stated(thing), metadata: { name: thing.name }, status: part(status, 0.9) } : mergeBetween({ status: object.status }, { status });
      const parameters = way === 'apply' ? query([`fieldManager=${pick(['one', 'loop'])}`, ...maybe(0.6, 'force=true')]) : writeQuery();
      return write('PATCH', `${item(thing)}/status${parameters}`, bodies(thing, body), patchTypes[way]);
    },
    scale(thing) {
      if (!has(thing, 'scale', 'update')) return undefined;
      const path = `${item(thing)}/scale`;
      const replicas = pick([0, 1, 2, 5, -1, 'x', null]);
      // To the scale of a custom resource upstream applies nothing, once others have written it: it fails with 500.
      const way = pick(['get', 'put', 'put', 'merge', ...(thing.kind.kind === 'Thing' ? [] : ['apply'])]);
      if (way === 'get') return { method: 'GET', path, headers: { accept: pick([json, forms.Table, forms.yaml]) } };
      const { name, namespace } = thing.last[0].metadata;
      const whole = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name, namespace }, spec: { replicas } };
      if (way === 'put') return write('PUT', `${path}${writeQuery()}`, [JSON.stringify(whole), JSON.stringify(whole)]);
      const body = JSON.stringify(way === 'apply' ? whole : { spec: { replicas } });
      return write('PATCH', `${path}${way === 'apply' ? '?fieldManager=scaler&force=true' : writeQuery()}`, [body, body], patchTypes[way]);
    },
    otherSubresource(thing) {
      const one = pick(thing.kind.subresources.filter(({ name, verbs }) => !['status', 'scale', 'proxy', 'log', 'exec', 'attach', 'portforward', 'token'].includes(name) && verbs.length > 0));
      if (!one) return undefined;
      const path = `${item(thing)}/${one.name}`;
      const { name, namespace } = thing.last[0].metadata;
      const post = { eviction: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions: pick([undefined, {}, { gracePeriodSeconds: 0 }, { dryRun: ['All'] }]) }, binding: { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target: { kind: pick(['Node', '']), name: pick(['node-1', '', 'Bad Name']) } } };
      if (post[one.name]) return write('POST', `${path}${writeQuery()}`, Array(2).fill(JSON.stringify(post[one.name])));
      if (one.verbs.includes('update') && chance.chance(0.6)) return write('PUT', `${path}${writeQuery()}`, bodies(thing, changed(thing)));
      if (one.verbs.includes('patch')) return write('PATCH', `${path}${writeQuery()}`, bodies(thing, mergeBetween(thing.last[0], changed(thing))), pick([patchTypes.merge, patchTypes.strategic]));
      return undefined;
    },
    get: (thing) => ({ method: 'GET', path: item(thing), headers: { accept: pick([json, forms.Table, forms.PartialObjectMetadata, forms.yaml]) } }),
    list(thing) {
      const parameters = [...maybe(0.5, pick(['labelSelector=tier', 'labelSelector=tier%3Da', 'labelSelector=tier!%3Da', 'labelSelector=tier%20in%20(a,b),app'])), ...maybe(0.3, pick([`fieldSelector=metadata.name%3D${thing.name}`, `fieldSelector=metadata.name!%3D${thing.name}`]))];
      return { method: 'GET', path: `${thing.kind.collection}${query(parameters)}`, headers: { accept: pick([json, listForms.Table, listForms.PartialObjectMetadata]) } };
    },
    remove(thing) {
      const versions = versionOf(thing, pick(['current', 'stale']));
      const way = pick(['none', 'none', 'uid', 'version', 'other']);
      const of = { uid: (side) => ({ uid: thing.last[side]?.metadata.uid }), version: (side) => ({ resourceVersion: versions[side] }), other: () => ({ uid: 'other' }) };
      const options = { ...(chance.chance(0.3) && { gracePeriodSeconds: pick([0, 1, 30, -1]) }), ...(chance.chance(0.4) && { propagationPolicy: pick(['Orphan', 'Background', 'Foreground', 'Bad']) }), ...(chance.chance(0.05) && { orphanDependents: pick([true, false]) }), ...(chance.chance(0.15) && { dryRun: ['All'] }) };
      const made = [0, 1].map((side) => ({ ...options, ...(way !== 'none' && { preconditions: of[way](side) }) }));
      return write('DELETE', `${item(thing)}${query(maybe(0.15, pick(['gracePeriodSeconds=0', 'propagationPolicy=Orphan', 'dryRun=All'])))}`, made.map((one) => JSON.stringify(one)));
    },
    removeAll(thing) {
      // Of kinds without a namespace others may be there that belong to nobody here.
      const selectors = thing.kind.resource.namespaced ? ['labelSelector=tier%3Da', 'labelSelector=tier', `fieldSelector=metadata.name%3D${thing.name}`] : [`fieldSelector=metadata.name%3D${thing.name}`];
      if (!thing.kind.resource.verbs.includes('deletecollection')) return undefined;
      return write('DELETE', `${thing.kind.collection}?${pick(selectors)}`, Array(2).fill(JSON.stringify(pick([{}, { propagationPolicy: 'Foreground' }, { gracePeriodSeconds: 0 }]))));
    },
  };

  const weights = { update: 6, merge: 5, strategic: 4, jsonPatch: 4, apply: 7, status: 6, scale: 2, otherSubresource: 3, get: 2, list: 2, remove: 3, unchanged: 2, again: 1, removeAll: 1 };
  const weighted = Object.entries(weights).flatMap(([name, weight]) => Array(weight).fill(name));
  const whenAbsent = ['create', 'create', 'create', 'create', 'applied', 'applied', 'put', 'patchNothing', 'deleteNothing', 'getNothing', 'generated'];

  /** `{ form, ...request }` about a thing, or undefined where the kind has nothing of the drawn form. */
  return (thing) => {
    const form = thing.last[0] === undefined ? pick(whenAbsent) : pick(weighted);
    const request = (absent[form] ?? present[form])(thing);
    return request && { form, ...request };
  };
}
