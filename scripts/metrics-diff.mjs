#!/usr/bin/env node
// Which metrics of upstream's kube-apiserver ours lacks: both are started, get the same few requests, and their `/metrics` and `/metrics/slis` are
// compared by name, type and labels. What stays different is told in docs/differences.md.
//
//   SAGONG_UPSTREAM_BIN=DIR node scripts/metrics-diff.mjs
import { call, endCalls, pause, startApiServer, upstreamBin, workshop } from '../bench/lib/servers.mjs';

if (upstreamBin === '') throw new Error('SAGONG_UPSTREAM_BIN names no folder with kube-apiserver');

/** Families of an exposition: type and sorted label names by name. */
function familiesOf(text) {
  const families = new Map();
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\S+) (\S+)/.exec(line);
    if (type) families.set(type[1], { type: type[2], labels: new Set() });
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? /.exec(line);
    if (!sample || line.startsWith('#')) continue;
    const base = sample[1].replace(/_(bucket|sum|count)$/, '');
    const family = families.get(sample[1]) ?? families.get(base);
    for (const label of (sample[2] ?? '').matchAll(/(?:^|,)(\w+)="(?:[^"\\]|\\.)*"/g)) {
      if (label[1] !== 'le' && label[1] !== 'quantile') family?.labels.add(label[1]);
    }
  }
  return families;
}

const webhook = {
  metadata: { name: 'w' },
  webhooks: [
    {
      ...{ name: 'w.example.com', clientConfig: { url: 'https://127.0.0.1:1/' }, failurePolicy: 'Ignore', sideEffects: 'None' },
      ...{ admissionReviewVersions: ['v1'], timeoutSeconds: 1 },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }],
    },
  ],
};
const policy = {
  metadata: { name: 'p' },
  spec: {
    matchConstraints: {
      resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    },
    validations: [{ expression: 'object.metadata.name != "bad"' }],
  },
};

async function exercise(url) {
  const registration = '/apis/admissionregistration.k8s.io/v1';
  const space = '/api/v1/namespaces/default';
  await call(url, 'POST', '/api/v1/namespaces', { metadata: { name: 'default' } }).catch(() => {});
  await call(url, 'POST', `${registration}/mutatingwebhookconfigurations`, webhook);
  await call(url, 'POST', `${registration}/validatingwebhookconfigurations`, webhook);
  await call(url, 'POST', `${registration}/validatingadmissionpolicies`, policy);
  const binding = { metadata: { name: 'p' }, spec: { policyName: 'p', validationActions: ['Deny'] } };
  await call(url, 'POST', `${registration}/validatingadmissionpolicybindings`, binding);
  await pause(1500);
  await call(url, 'POST', `${space}/secrets`, { metadata: { name: 's' } });
  for (const name of ['a', 'b', 'bad']) await call(url, 'POST', `${space}/configmaps`, { metadata: { name } }).catch(() => {});
  await call(url, 'GET', `${space}/configmaps?watch=1&timeoutSeconds=1&resourceVersion=1`).catch(() => {});
  await call(
    url,
    'GET',
    `${space}/configmaps?watch=1&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`,
  );
  await call(url, 'GET', '/api/v1/configmaps?limit=1');
  await call(url, 'GET', '/api/v1/configmaps?resourceVersion=0');
  await call(url, 'GET', `${space}/configmaps/none`);
  await call(url, 'DELETE', `${space}/configmaps/a`);
  await call(url, 'GET', '/api', undefined, { token: 'nobody' });
}

async function seen(maker) {
  const place = workshop();
  try {
    const { url } = await startApiServer(place, maker);
    await exercise(url);
    const [metrics, slis] = [await call(url, 'GET', '/metrics'), await call(url, 'GET', '/metrics/slis')];
    return { metrics: familiesOf(metrics.text), slis: familiesOf(slis.text) };
  } finally {
    await place.end();
  }
}

const [theirs, ours] = [await seen('upstream'), await seen('sagong')];
endCalls();
for (const path of ['metrics', 'slis']) {
  const lacking = [...theirs[path]].filter(([name]) => !ours[path].has(name));
  const shared = [...theirs[path]].filter(([name]) => ours[path].has(name));
  console.log(`${path}: ${shared.length} of ${theirs[path].size} families; lacking:`);
  for (const [name, { type, labels }] of lacking) console.log(`  ${name} ${type} ${[...labels].join(',')}`);
  for (const [name, { type, labels }] of shared) {
    const own = ours[path].get(name);
    const missing = [...labels].filter((label) => !own.labels.has(label));
    const more = [...own.labels].filter((label) => !labels.has(label));
    if (type !== own.type) console.log(`  ${name}: ${own.type}, upstream ${type}`);
    if (labels.size > 0 && own.labels.size > 0 && missing.length + more.length > 0)
      console.log(`  ${name}: lacks labels [${missing}], has [${more}] more`);
  }
}
