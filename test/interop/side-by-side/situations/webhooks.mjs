// Admission webhooks of every answer: who is asked, with what review, in what order, what becomes of patches, failures, warnings and dry runs.
import { compareReviews } from './reviews.mjs';
import { broken, hookServer, mutating, validating } from './hook-server.mjs';
import { configMap, deployment, patchTypes, pod } from './objects.mjs';

const base = '/apis/admissionregistration.k8s.io/v1';
const conditions = ["object.metadata.name != 'n1'", "request.operation == 'CREATE'", "request.dryRun == true", 'has(object.metadata.labels) && object.metadata.labels.tier == "a"', 'object.nothing == 1', "oldObject == null", "request.userInfo.username == 'admin'", "authorizer.group('').resource('pods').check('get').allowed()", 'namespaceObject.metadata.name == "x"', 'syntax (', '1'];
const rules = [
  { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps', 'pods'], operations: ['*'] },
  { apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['CREATE', 'UPDATE'] },
  { apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['CREATE', 'UPDATE', 'DELETE'] },
  { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments', 'deployments/scale'], operations: ['CREATE', 'UPDATE'], scope: 'Namespaced' },
  { apiGroups: [''], apiVersions: ['v1'], resources: ['pods/*'], operations: ['CREATE', 'UPDATE', 'CONNECT'] },
  { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['DELETE'] },
  { apiGroups: [''], apiVersions: ['v1'], resources: ['*'], operations: ['CREATE'], scope: 'Cluster' },
  { apiGroups: ['apps'], apiVersions: ['v1beta1'], resources: ['deployments'], operations: ['*'] },
];

function drawHook({ chance, namespace, hooks, kind, at }) {
  const names = kind === 'Mutating' ? mutating : validating;
  const name = chance.chance(0.2) ? chance.pick(broken) : chance.pick(names);
  const more = {
    ...(chance.chance(0.3) && { failurePolicy: chance.pick(['Ignore', 'Fail']) }),
    ...(chance.chance(0.3) && { matchPolicy: chance.pick(['Exact', 'Equivalent']) }),
    ...(chance.chance(0.25) && { objectSelector: { matchLabels: { tier: 'a' } } }),
    ...(chance.chance(0.25) && { matchConditions: [{ name: 'one', expression: chance.pick(conditions) }] }),
    ...(chance.chance(0.1) && { timeoutSeconds: chance.pick([1, 5, 0, 31]) }),
    ...(kind === 'Mutating' && chance.chance(0.4) && { reinvocationPolicy: chance.pick(['Never', 'IfNeeded']) }),
  };
  return (side) => ({
    ...{ name: `${name}-${at}.example.com`, admissionReviewVersions: ['v1'], sideEffects: 'None', rules: [rules[hooks.drawn[at]]], namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
    ...more,
    clientConfig: { url: hooks.url(side, name), caBundle: hooks.caBundle },
  });
}

export async function webhooks({ ask, both, chance, namespace, mark }) {
  const hooks = { ...(await hookServer()), drawn: [] };
  const made = [];
  const core = `/api/v1/namespaces/${namespace}`;
  try {
    for (let round = 0; round < 12; round += 1) {
      for (const path of made.splice(0)) await both('DELETE', path);
      // Of validating ones there is one: all are asked at the same time, and the first refusal to come is told.
      for (const kind of ['Mutating', 'Validating']) {
        const draws = Array.from({ length: kind === 'Validating' ? 1 : chance.pick([1, 1, 2, 3]) }, (_, at) => {
          hooks.drawn[at] = chance.below(rules.length);
          return drawHook({ chance, namespace, hooks: { ...hooks, drawn: [...hooks.drawn] }, kind, at });
        });
        const name = `${kind.toLowerCase()}-${round}-${mark}`;
        const path = `${base}/${kind.toLowerCase()}webhookconfigurations`;
        const [theirs] = await both('POST', path, (side) => ({ metadata: { name }, webhooks: draws.map((draw) => draw(side)) }));
        if (theirs.status === 201) made.push(`${path}/${name}`);
      }
      await new Promise((resume) => setTimeout(resume, 400));
      for (let step = 0; step < 6; step += 1) {
        for (const list of hooks.reviews) list.length = 0;
        await write({ ask, chance, core, namespace });
        compareReviews(ask.differ, hooks.reviews);
      }
    }
  } finally {
    for (const path of made) await both('DELETE', path);
    hooks.close();
  }
}

async function write({ ask, chance, core, namespace }) {
  const name = `n${chance.below(3)}`;
  const [path, make] = chance.pick([[`${core}/configmaps`, configMap], [`${core}/pods`, pod], [`/apis/apps/v1/namespaces/${namespace}/deployments`, deployment]]);
  const dry = chance.chance(0.2) ? '?dryRun=All' : '';
  const item = `${path}/${name}`;
  const metadata = { labels: { tier: chance.pick(['a', 'b']) } };
  const way = chance.below(8);
  if (way < 3) await ask('POST', `${path}${dry}`, make(name, { metadata }));
  if (way === 3) await ask('PATCH', `${item}${dry}`, { metadata }, { type: chance.pick([patchTypes.merge, patchTypes.strategic]) });
  if (way === 4) await ask('PATCH', `${item}?fieldManager=me&force=true`, { ...make(name, { metadata }) }, { type: patchTypes.apply });
  if (way === 5) await ask('DELETE', `${item}${dry}`, chance.pick([undefined, { gracePeriodSeconds: 0 }]));
  if (way === 6) await ask('PATCH', path.endsWith('deployments') ? `${item}/scale` : `${item}/status`, path.endsWith('deployments') ? { spec: { replicas: 3 } } : { status: { phase: 'Running' } }, { type: patchTypes.merge });
  if (way === 7) await ask('DELETE', `${path}?fieldSelector=metadata.name%3D${name}${dry.replace('?', '&')}`);
  await ask('GET', item);
}
