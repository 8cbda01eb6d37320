// Deletions of many and of one: collections by selectors, dry runs, preconditions, grace, propagation, finalizers, and what is left after each.
import { configMap, deployment, patchTypes, pod } from './objects.mjs';

const made = {
  configmaps: ['/api/v1', configMap],
  pods: ['/api/v1', (name, more) => pod(name, { ...more, spec: name.endsWith('1') ? { nodeName: 'n1' } : {} })],
  deployments: ['/apis/apps/v1', deployment],
  secrets: ['/api/v1', (name, { metadata }) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, ...metadata } })],
};

export async function deletions({ ask, both, chance, namespace }) {
  for (const [resource, [base, make]] of Object.entries(made)) {
    const path = `${base}/namespaces/${namespace}/${resource}`;
    for (let round = 0; round < 3; round += 1) {
      for (let at = 0; at < 5; at += 1) {
        const metadata = { labels: { tier: chance.pick(['a', 'b']), app: `o${at}` }, ...(chance.chance(0.25) && { finalizers: chance.pick([['example.com/hold'], ['foregroundDeletion'], ['orphan', 'example.com/hold']]) }) };
        await both('POST', path, make(`o${at}`, { metadata }));
      }
      const stored = await both('GET', path);
      for (let step = 0; step < 6; step += 1) await one({ ask, chance, path, stored });
      await ask('GET', path);
      for (let at = 0; at < 5; at += 1) await both('PATCH', `${path}/o${at}`, { metadata: { finalizers: null } }, { type: patchTypes.merge });
      await both('DELETE', `${path}?gracePeriodSeconds=0`);
      await ask('GET', path);
    }
  }
}

async function one({ ask, chance, path, stored }) {
  const name = `o${chance.below(5)}`;
  const known = (side) => stored[side].body.items?.find(({ metadata }) => metadata.name === name)?.metadata;
  const preconditions = chance.pick([undefined, undefined, (side) => ({ uid: known(side)?.uid }), (side) => ({ resourceVersion: known(side)?.resourceVersion }), () => ({ uid: 'x' }), () => ({ resourceVersion: '1' }), () => ({}), (side) => ({ uid: known(side)?.uid, resourceVersion: '1' })]);
  const options = {
    ...(chance.chance(0.3) && { propagationPolicy: chance.pick(['Foreground', 'Background', 'Orphan', 'Sideways']) }),
    ...(chance.chance(0.3) && { gracePeriodSeconds: chance.pick([0, 1, 60, -1]) }),
    ...(chance.chance(0.2) && { dryRun: chance.pick([['All'], [], ['Some'], ['All', 'All']]) }),
    ...(chance.chance(0.1) && { orphanDependents: chance.chance(0.5) }),
    ...(chance.chance(0.05) && { kind: 'DeleteOptions', apiVersion: chance.pick(['v1', 'meta.k8s.io/v1', 'apps/v1', 'nothing/v1']) }),
    ...(chance.chance(0.05) && { ignoreStoreReadErrorWithClusterBreakingPotential: chance.chance(0.5) }),
  };
  const body = (side) => ({ ...options, ...(preconditions && { preconditions: preconditions(side) }) });
  if (chance.chance(0.35)) {
    const query = chance.pick(['labelSelector=tier%3Da', `fieldSelector=metadata.name%3D${name}`, 'labelSelector=none', 'labelSelector=x%20y', 'fieldSelector=spec.x%3D1', 'limit=2&labelSelector=tier', 'resourceVersion=0&labelSelector=tier%3Db', 'labelSelector=tier&limit=1&continue=x', 'dryRun=All', 'dryRun=None']);
    // Many are deleted at the same time, and the first failure ends the rest: only of one it is known which.
    await ask('DELETE', `${path}?${query}`, query.startsWith('fieldSelector=metadata') ? body : options);
  } else await ask('DELETE', `${path}/${name}${chance.pick(['', '', '', '?dryRun=All', '?gracePeriodSeconds=0', '?propagationPolicy=Orphan', '?gracePeriodSeconds=5&propagationPolicy=Foreground'])}`, chance.chance(0.3) ? undefined : body);
  await ask('GET', `${path}/${name}`);
  if (chance.chance(0.2)) {
    await ask('PATCH', `${path}/${name}`, { metadata: { finalizers: chance.pick([['example.com/new'], null, [], ['foregroundDeletion']]) } }, { type: chance.pick([patchTypes.merge, patchTypes.strategic]) });
    await ask('GET', `${path}/${name}`);
  }
}
