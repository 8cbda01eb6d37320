// The forms of requests that odd-requests.mjs sends. Each takes a kind and draws one request. Writes are dry runs, so that both servers stay alike.

const json = { 'content-type': 'application/json' };
const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
const patchTypes = { merge: 'application/merge-patch+json', json: 'application/json-patch+json', strategic: 'application/strategic-merge-patch+json', apply: 'application/apply-patch+yaml' };

const oddParameters = [
  ...['fieldValidation=Strict', 'fieldValidation=Warn', 'fieldValidation=Ignore', 'fieldValidation=Bad', 'fieldManager=', `fieldManager=${'x'.repeat(129)}`, 'fieldManager=a%00b', 'fieldManager=me'],
  ...['dryRun=', 'dryRun=Some', 'dryRun=All&dryRun=All', 'force=true', 'force=x', 'pretty=true', 'unknown=1', 'fieldManager=a&fieldManager=b', 'timeoutSeconds=x'],
];
const listParameters = [
  ...['limit=1', 'limit=-1', 'limit=x', 'limit=1.5', 'limit=99999999999999999999', 'continue=x', 'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8ifQ', 'limit=1&continue=', 'resourceVersion=0'],
  ...['resourceVersion=1', 'resourceVersion=0&resourceVersionMatch=Exact', 'resourceVersionMatch=Exact', 'resourceVersionMatch=NotOlderThan&resourceVersion=0', 'resourceVersionMatch=Bad&resourceVersion=1', 'resourceVersion=0&resourceVersionMatch=NotOlderThan&continue=x'],
  ...['labelSelector=a', 'labelSelector=a%3Db', 'labelSelector=a%20in%20(b,c)', 'labelSelector=a%20in%20()', 'labelSelector=a%20in', 'labelSelector=!a', 'labelSelector=a%3D%3Db,c!%3Dd', 'labelSelector=Bad%20Key%3Da', 'labelSelector=a%3DBad%20Value!', 'labelSelector=a%3Eb', 'labelSelector=a%3E1', 'labelSelector=,', 'labelSelector=a%20notin%20(b),', 'labelSelector=a%3D-'],
  ...['fieldSelector=metadata.name%3Da', 'fieldSelector=metadata.name!%3Da', 'fieldSelector=metadata.namespace%3Dx', 'fieldSelector=spec.x%3D1', 'fieldSelector=a', 'fieldSelector=metadata.name', 'fieldSelector=metadata.name%3D%3Da,metadata.namespace%3Da', 'fieldSelector=status.phase%3DRunning', 'fieldSelector=type%3DOpaque', 'fieldSelector=metadata.name%3Da%3Db', 'fieldSelector=%5C'],
  ...['sendInitialEvents=true', 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan', 'watch=true&sendInitialEvents=true&timeoutSeconds=1', 'allowWatchBookmarks=x', 'watch=x&limit=1&timeoutSeconds=1', 'timeoutSeconds=-1', 'timeoutSeconds=x', 'pretty=1', 'watch=0', 'watch=true&limit=0&timeoutSeconds=1', 'watch=true&resourceVersion=x&timeoutSeconds=1', 'watch=true&fieldSelector=a&timeoutSeconds=1', 'watch=true&resourceVersionMatch=Exact&timeoutSeconds=1'],
];
const deleteBodies = [
  undefined, '{}', '{"kind":"DeleteOptions","apiVersion":"v1"}', '{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1"}', '{"kind":"Pod","apiVersion":"v1"}', '{"apiVersion":"v1"}', '{"gracePeriodSeconds":-1}', '{"gracePeriodSeconds":"x"}',
  '{"gracePeriodSeconds":0}', '{"propagationPolicy":"Orphan"}', '{"propagationPolicy":"Foreground"}', '{"propagationPolicy":"Bad"}', '{"propagationPolicy":"Orphan","orphanDependents":true}', '{"orphanDependents":true}', '{"preconditions":{"uid":"x"}}',
  '{"preconditions":{"resourceVersion":"1"}}', '{"preconditions":{}}', '{"dryRun":["All"]}', '{"dryRun":["x"]}', '{"dryRun":"All"}', '[]', 'x', '', '{', '{"unknown":1}', '{"ignoreStoreReadErrorWithClusterBreakingPotential":true}', '{"apiVersion":"v2","kind":"DeleteOptions"}',
];
const accepts = ['application/json', 'application/yaml', 'text/html', '*/*', 'application/*', 'application/json;as=Table;g=meta.k8s.io;v=v1', 'application/json;as=Table;g=meta.k8s.io;v=v1beta1', 'application/json;as=Table;g=meta.k8s.io;v=v2', 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json', 'application/json;as=Bad;g=x;v=v1', 'application/json;q=0.5,application/yaml', 'application/json;stream=watch', 'application/xml, application/json;q=0', 'application/json;pretty=1', 'image/png'];
const contentTypes = ['application/json', 'application/yaml', 'text/plain', 'application/xml', '', 'application/json; charset=utf-8', 'application/merge-patch+json', 'application/x-www-form-urlencoded', 'bad', 'application/vnd.kubernetes.protobuf', 'application/cbor', 'application/strategic-merge-patch+json'];
const bodies = ['', '{}', '[]', 'null', 'x', '"x"', '1', '{', '{"kind":"x"}', '{"apiVersion":"x","kind":"y"}', '{"apiVersion":"v1","kind":"Pod"}', '{"apiVersion":"v1","kind":"List","items":[]}', '{"metadata":null}', '{"metadata":{"name":1}}', '{"metadata":[]}', '{"a":1,"a":2}', '{"kind":1}', '{"apiVersion":"a/b/c","kind":"X"}', '{"spec":"x"}', '{}{}', '\u0000', '---\n{}', '# x', '{"metadata":{"name":"a","name":"b"}}', '{"metadata":{"labels":{"a":1}}}', '{"metadata":{"creationTimestamp":"x"}}', '{"metadata":{"ownerReferences":[{}]}}'];

export function requestForms({ chance, odd, kinds }) {
  const drawName = (object) => ({ ...object, metadata: { ...object.metadata, name: 'fresh' } });
  const item = (one) => `${one.collection}/${one.valid.metadata.name}`;
  const stated = (one) => ({ apiVersion: one.valid.apiVersion, kind: one.valid.kind });
  const query = (list) => (list.length === 0 ? '' : `?${list.join('&')}`);
  const maybe = (share, list) => (chance.chance(share) ? [chance.pick(list)] : []);
  // A kind whose name carries meaning keeps it.
  const fresh = (one) => (one.absent || ['CustomResourceDefinition', 'IPAddress', 'ResourceSlice', 'CSINode'].includes(one.kind) ? structuredClone(one.valid) : drawName(one.valid));

  return {
    create(one) {
      const body = odd.changed(one.typeName, fresh(one));
      return { method: 'POST', path: `${one.collection}${query(['dryRun=All', ...maybe(0.2, oddParameters)])}`, headers: json, body: JSON.stringify(body) };
    },
    update(one) {
      if (!one.resource.verbs.includes('update')) return undefined;
      const body = odd.changed(one.typeName, one.valid);
      return { method: 'PUT', path: `${item(one)}${query(['dryRun=All', ...maybe(0.1, oddParameters)])}`, headers: json, body: JSON.stringify(body) };
    },
    patch(one) {
      if (!one.resource.verbs.includes('patch')) return undefined;
      const type = chance.pick(['merge', 'strategic', 'apply']);
      const patch = odd.mergePatch(one.typeName, one.valid);
      const body = type === 'apply' ? { ...stated(one), ...patch, metadata: { name: one.valid.metadata.name, ...patch.metadata } } : patch;
      const parameters = ['dryRun=All', ...(type === 'apply' && chance.chance(0.95) ? ['fieldManager=me'] : []), ...maybe(type === 'apply' ? 0.5 : 0, ['force=true']), ...maybe(0.1, oddParameters)];
      return { method: 'PATCH', path: `${item(one)}${query(parameters)}`, headers: { 'content-type': patchTypes[type] }, body: JSON.stringify(body) };
    },
    jsonPatch(one) {
      if (!one.resource.verbs.includes('patch')) return undefined;
      const paths = ['/metadata/labels', '/metadata/labels/a', '/spec', '/spec/x', '/metadata/name', '/metadata/annotations', '/kind', '', '/', 'x', '/metadata/ownerReferences/0', '/spec/containers/-', '/metadata/labels/a~1b', '/data/a', '/metadata/finalizers/-', '/status', '/metadata/uid', '/metadata/resourceVersion'];
      const value = () => chance.pick([undefined, 'x', 1, null, {}, { a: 'b' }, [], ['x'], true]);
      const step = () => ({ op: chance.pick(['add', 'add', 'replace', 'remove', 'test', 'move', 'copy', 'bad', undefined]), path: chance.pick(paths), value: value(), ...(chance.chance(0.3) && { from: chance.pick(paths) }) });
      const body = chance.chance(0.1) ? chance.pick(['{}', '[', '[1]', 'x', '', 'null', '[{}]', '{"op":"add"}']) : JSON.stringify([step(), ...(chance.chance(0.3) ? [step()] : [])]);
      return { method: 'PATCH', path: `${item(one)}?dryRun=All`, headers: { 'content-type': patchTypes.json }, body };
    },
    subresource(one) {
      const of = chance.pick(one.subresources.filter(({ verbs, name }) => verbs.includes('get') && !['proxy', 'log', 'exec', 'attach', 'portforward'].includes(name)));
      if (!of) return undefined;
      const path = `${item(one)}/${of.name}`;
      const method = chance.pick(['GET', 'PUT', 'PATCH', 'PATCH', 'PUT', 'POST', 'DELETE']);
      if (method === 'GET') return { method, path, headers: chance.chance(0.4) ? table : {} };
      const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: one.valid.metadata.name, namespace: one.valid.metadata.namespace }, spec: { replicas: chance.pick([0, 1, -1, 'x', null, 2147483648]) } };
      const status = () => ({ ...structuredClone(one.valid), status: odd.changed(one.typeName, { ...one.valid, status: one.valid.status ?? {} }).status });
      const whole = of.kind === 'Scale' ? scale : chance.chance(0.8) ? statusOf(odd, one) : status();
      const body = method === 'PATCH' ? { status: whole.status, ...(of.kind === 'Scale' && { spec: whole.spec }) } : whole;
      return { method, path: `${path}?dryRun=All`, headers: { 'content-type': method === 'PATCH' ? chance.pick([patchTypes.merge, patchTypes.strategic]) : 'application/json' }, body: JSON.stringify(body) };
    },
    table: (one) => ({ method: 'GET', path: `${chance.chance(0.3) ? one.collection : item(one)}${query(maybe(0.4, ['includeObject=None', 'includeObject=Object', 'includeObject=Metadata', 'includeObject=Bad']))}`, headers: table }),
    list: (one) => ({ method: 'GET', path: `${one.collection}${query([chance.pick(listParameters), ...maybe(0.2, listParameters)])}`, headers: {} }),
    remove: (one) => {
      const body = chance.pick(deleteBodies);
      const collection = chance.chance(0.2);
      const parameters = ['dryRun=All', ...maybe(0.3, ['gracePeriodSeconds=x', 'gracePeriodSeconds=-1', 'gracePeriodSeconds=0', 'propagationPolicy=Bad', 'propagationPolicy=Orphan', 'orphanDependents=x', 'orphanDependents=true', ...listParameters.filter((one) => !one.startsWith('watch'))])];
      return { method: 'DELETE', path: `${collection ? one.collection : item(one)}${query(parameters)}`, headers: body === undefined ? {} : json, ...(body !== undefined && { body }) };
    },
    content(one) {
      const method = chance.pick(['POST', 'PUT', 'PATCH', 'GET']);
      const headers = { accept: chance.pick(accepts), ...(method !== 'GET' && { 'content-type': chance.pick(contentTypes) }) };
      const body = chance.chance(0.5) ? chance.pick(bodies) : JSON.stringify(method === 'POST' ? fresh(one) : one.valid);
      const path = `${method === 'POST' ? one.collection : item(one)}?dryRun=All`;
      return { method, path, headers, ...(method !== 'GET' && { body }) };
    },
    body(one) {
      const method = chance.pick(['POST', 'PUT']);
      return { method, path: `${method === 'POST' ? one.collection : item(one)}?dryRun=All&fieldValidation=${chance.pick(['Strict', 'Warn', 'Ignore'])}`, headers: json, body: chance.pick(bodies) };
    },
    identity(one) {
      const other = chance.pick(kinds);
      const body = structuredClone(chance.chance(0.3) ? other.valid : one.valid);
      const changes = [['apiVersion', 'v1'], ['apiVersion', 'x/v1'], ['kind', 'Bad'], ['kind', ''], ['metadata', { name: '' }], ['metadata', { generateName: 'gen-' }], ['metadata', { name: 'Bad Name' }], ['metadata', { ...body.metadata, namespace: 'other' }], ['metadata', { ...body.metadata, uid: 'x' }], ['metadata', { ...body.metadata, resourceVersion: '1' }], ['metadata', { ...body.metadata, resourceVersion: 'x' }], ['metadata', { ...body.metadata, generation: -1 }], ['metadata', { ...body.metadata, deletionTimestamp: '2020-01-01T00:00:00Z' }], ['metadata', { ...body.metadata, finalizers: ['x'] }], ['metadata', { ...body.metadata, finalizers: ['a.b/c', 'Bad Name/'] }], ['metadata', { ...body.metadata, managedFields: [{}] }], ['metadata', { ...body.metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'x', controller: true }, { apiVersion: 'v1', kind: 'Event', name: '', uid: '', controller: true }] }], ['metadata', { ...body.metadata, annotations: { 'Bad Key!': 'x', a: 'y'.repeat(300000) } }], ['metadata', { ...body.metadata, labels: { 'a/b/c': 'Bad Value!', '-': 'x'.repeat(64) } }], ['metadata', { ...body.metadata, selfLink: '/x' }]];
      const [key, value] = chance.pick(changes);
      body[key] = value;
      const method = chance.pick(['POST', 'PUT']);
      const name = chance.pick([one.valid.metadata.name, one.valid.metadata.name, 'absent', 'Bad%20Name', 'a%2Fb', '..', 'x'.repeat(260)]);
      return { method, path: `${method === 'POST' ? one.collection : `${one.collection}/${name}`}?dryRun=All`, headers: json, body: JSON.stringify(body) };
    },
  };
}

function statusOf(odd, one) {
  const object = structuredClone(one.valid);
  object.status ??= {};
  const changed = odd.changed(one.typeName, { status: object.status });
  object.status = changed.status;
  return object;
}
