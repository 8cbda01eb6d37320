// How a controller's author tests against a whole Kubernetes in the same process: the toy controller below keeps a ConfigMap `<name>-info`
// for every Deployment labelled `info=yes`; the test creates such a Deployment and waits for real pods (simulated ones) and the ConfigMap.
//
//   npm run setup && node examples/test-your-controller.mjs
import assert from 'node:assert/strict';
import { startCluster } from 'sagong/testing';

const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const pods = { group: '', version: 'v1', resource: 'pods' };

/** The controller under test: a watch and a write, over the same client it would use against any cluster. */
async function runInfoController(client) {
  const stream = await client.resource(deployments).watch({ labelSelector: 'info=yes' });
  stream.subscribe(
    ({ type, object }) => {
      if (type !== 'ADDED') return;
      const { name, namespace, uid } = object.metadata;
      const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true }];
      void client.resource(configMaps, namespace).create({ metadata: { name: `${name}-info`, ownerReferences }, data: { replicas: String(object.spec.replicas) } });
    },
    () => {},
  );
  return stream;
}

async function until(what, attempt) {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
    const result = await attempt().catch(() => undefined);
    if (result) return result;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`${what}: not in time`);
}

const cluster = await startCluster({ nodes: 2 });
const controller = await runInfoController(cluster.client);
try {
  const labels = { app: 'web' };
  await cluster.client.resource(deployments, 'default').create({
    metadata: { name: 'web', labels: { info: 'yes' } },
    spec: { replicas: 3, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.org/web:1' }] } } },
  });
  const info = await until('the ConfigMap', () => cluster.client.resource(configMaps, 'default').get('web-info'));
  assert.equal(info.data.replicas, '3');
  await until('three running pods', async () => {
    const { items } = await cluster.client.resource(pods, 'default').list({ labelSelector: 'app=web' });
    return items.length === 3 && items.every(({ status }) => status.phase === 'Running');
  });
  await cluster.client.resource(deployments, 'default').delete('web', { propagationPolicy: 'Background' });
  await until('garbage collection', async () => !(await cluster.client.resource(configMaps, 'default').get('web-info').catch(() => undefined)));
  console.log('the controller works: ConfigMap made, pods ran, everything collected');
} finally {
  controller.stop();
  await cluster.stop();
}
