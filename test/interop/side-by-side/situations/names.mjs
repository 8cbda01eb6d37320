// Names: given, drawn, wrong, taken, those of other namespaces; and versions and uids that writes are bound to.
import { configMap, deployment, patchTypes, pod, service } from './objects.mjs';

const makers = [['/api/v1', 'configmaps', configMap], ['/api/v1', 'pods', pod], ['/api/v1', 'services', service], ['/apis/apps/v1', 'deployments', deployment]];
const odd = ['a', 'A', 'a.b', 'a_b', '-a', 'a-', 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(253), 'x'.repeat(254), '..', '.', 'a/b', 'a%b', 'é', ' a', '', '1', '1a', 'a..b'];
const prefixes = ['gen-', 'Gen-gen-', '-gen-', 'g_gen-', 'x'.repeat(58), 'x'.repeat(80), 'x'.repeat(260), 'a/gen-', 'é-gen-', 'a.gen-'];

export async function names({ ask, both, chance, namespace }) {
  for (let step = 0; step < 60; step += 1) {
    const [base, resource, make] = chance.pick(makers);
    const path = `${base}/namespaces/${namespace}/${resource}`;
    const object = make('name');
    const draw = chance.below(8);
    if (draw === 0) object.metadata.name = chance.pick(odd);
    if (draw === 1) object.metadata = { generateName: chance.pick(prefixes) };
    if (draw === 2) object.metadata = { name: chance.pick(odd), generateName: chance.pick(prefixes) };
    if (draw === 3) object.metadata.namespace = chance.pick([namespace, 'other', '', 'Bad Name']);
    if (draw === 4) object.metadata = chance.pick([undefined, null, {}, { name: null }, { labels: { a: 'b' } }]);
    if (draw === 5) Object.assign(object.metadata, chance.pick([{ resourceVersion: '1' }, { resourceVersion: '0' }, { resourceVersion: 'x' }, { uid: 'x' }, { generation: 5 }, { creationTimestamp: '2020-01-01T00:00:00Z' }, { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 }, { selfLink: '/x' }, { managedFields: [{ manager: 'x' }] }, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '' }] }]));
    if (draw === 6) Object.assign(object, chance.pick([{ apiVersion: 'v2' }, { kind: 'Bad' }, { apiVersion: undefined }, { kind: undefined }, { apiVersion: '', kind: '' }, { apiVersion: 'apps/v1beta1' }, { kind: resource }]));
    await ask('POST', `${path}${chance.pick(['', '?dryRun=All', '?fieldManager=me', '?fieldValidation=Strict'])}`, object);
    await bound({ ask, both, chance, path, make });
    await both('DELETE', `${path}/name?gracePeriodSeconds=0`);
  }
}

/** Writes that are bound to a version, a uid or a name. */
async function bound({ ask, both, chance, path, make }) {
  await both('POST', path, make('bound'));
  const stored = (await both('GET', `${path}/bound`)).map(({ body }) => body);
  await both('PATCH', `${path}/bound`, { metadata: { labels: { turn: String(chance.below(1000)) } } }, { type: patchTypes.merge });
  const metadata = chance.pick([(one) => ({ resourceVersion: one.resourceVersion }), () => ({ resourceVersion: '1' }), () => ({ resourceVersion: '0' }), () => ({ resourceVersion: 'x' }), () => ({ resourceVersion: '' }), (one) => ({ uid: one.uid }), () => ({ uid: 'x' }), (one) => ({ uid: one.uid, resourceVersion: one.resourceVersion }), () => ({ name: 'other' }), () => ({ name: '' }), () => ({ namespace: 'other' }), () => ({ namespace: '' }), () => ({ creationTimestamp: null }), () => ({ generateName: 'x-' }), () => ({ deletionTimestamp: '2020-01-01T00:00:00Z' })]);
  const way = chance.pick(['PUT', 'PUT', 'merge', 'strategic', 'apply', 'json']);
  const dry = chance.pick(['', '', 'dryRun=All']);
  const op = chance.pick(['add', 'replace', 'test']);
  if (way === 'PUT') await ask('PUT', `${path}/bound?${dry}`, (side) => ({ ...stored[side], metadata: { ...stored[side].metadata, resourceVersion: undefined, ...metadata(stored[side].metadata) } }));
  else if (way === 'json') await ask('PATCH', `${path}/bound?${dry}`, (side) => Object.entries(metadata(stored[side].metadata)).map(([key, value]) => ({ op, path: `/metadata/${key}`, value })), { type: patchTypes.json });
  else if (way === 'apply') await ask('PATCH', `${path}/bound?fieldManager=me&${dry}`, (side) => ({ apiVersion: stored[side].apiVersion, kind: stored[side].kind, metadata: { name: 'bound', ...metadata(stored[side].metadata) } }), { type: patchTypes.apply });
  else await ask('PATCH', `${path}/bound?${dry}`, (side) => ({ metadata: metadata(stored[side].metadata) }), { type: patchTypes[way] });
  await ask('GET', `${path}/bound`);
  if (chance.chance(0.4)) await both('DELETE', `${path}/bound?gracePeriodSeconds=0`);
}
