// How autoscaling is tested: a Deployment gets a load that it shares among its pods, its HorizontalPodAutoscaler gives it more of them, and takes
// them away again once the load has gone. Ten minutes of the cluster's time pass in a few seconds.
//
//   npm run setup && node examples/test-autoscaling.mjs
import assert from 'node:assert/strict';
import { startCluster, virtualClock } from 'sagong/testing';

const clock = virtualClock();
const cluster = await startCluster({ nodes: 2, clock });
const resource = (group, version, name) => cluster.client.resource({ group, version, resource: name }, 'default');
const deployments = resource('apps', 'v1', 'deployments');
const autoscalers = resource('autoscaling', 'v2', 'horizontalpodautoscalers');
const pods = resource('', 'v1', 'pods');

const cpu = 'simulated.sagong.dev/cpu';

/** Each pod uses its share of so many thousandths of a processor. */
async function share(load) {
  const { items } = await pods.list({ labelSelector: 'app=web' });
  const each = `${Math.ceil(load / items.length)}m`;
  for (const { metadata } of items.filter((pod) => pod.metadata.annotations?.[cpu] !== each))
    await pods.patch(metadata.name, 'application/merge-patch+json', { metadata: { annotations: { [cpu]: each } } });
}

/** Lets time pass under a load until so many pods are ready: the autoscaler looks every 15 seconds. */
const scales = (load, wanted, limitMs) =>
  clock.until(async () => {
    await share(load);
    return (await deployments.get('web')).status?.readyReplicas === wanted;
  }, limitMs);

try {
  const labels = { app: 'web' };
  const containers = [{ name: 'web', image: 'example.org/web:1', resources: { requests: { cpu: '100m' } } }];
  await deployments.create({
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  });
  await clock.until(async () => (await deployments.get('web')).status?.readyReplicas === 1, 60_000);
  await autoscalers.create({
    metadata: { name: 'web' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      maxReplicas: 10,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }],
    },
  });
  const start = clock.now();
  await scales(400, 8, 120_000);
  const up = clock.now();
  await scales(40, 1, 600_000);
  const down = clock.now();
  assert.deepEqual(cluster.failures, []);
  console.log(`the autoscaler works: eight pods after ${(up - start) / 1000} s, one again ${(down - up) / 1000} s after the load had gone`);
} finally {
  await cluster.stop();
}
