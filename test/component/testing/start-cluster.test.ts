// The promise to users: a whole cluster in their test process, several at once, with real controllers and real authorization.
import { describe, expect, it } from 'vitest';
import type { Deployment } from '#api/apps/v1';
import type { SubjectAccessReview } from '#api/authorization/v1';
import type { Pod } from '#api/core/v1';
import type { KubeClient } from '#client';
import { startCluster } from '#testing';

const pods = { group: '', version: 'v1', resource: 'pods' };
const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
const accessReviews = { group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews' };
const labels = { app: 'web' };
const deployment: Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 3,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.org/web:1' }] } },
  },
};

async function running(client: KubeClient, count: number): Promise<Pod[]> {
  const deadline = performance.now() + 40_000;
  for (;;) {
    const { items } = await client.resource<Pod>(pods, 'default').list();
    if (items.length === count && items.every(({ status }) => status?.phase === 'Running')) return items;
    if (performance.now() > deadline)
      throw new Error(`pods: ${JSON.stringify(items.map(({ metadata, status }) => [metadata.name, status?.phase]))}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('startCluster', () => {
  it('runs a Deployment on simulated nodes and explains itself', async () => {
    const cluster = await startCluster({ nodes: 2 });
    try {
      await cluster.client.resource<Deployment>(deployments, 'default').create(deployment);
      const items = await running(cluster.client, 3);
      expect(new Set(items.map(({ spec }) => spec?.nodeName)).size).toBe(2);
      const decisions = cluster.explain('deployment/web');
      expect(decisions.map(({ controller }) => controller)).toContain('deployment-controller');
      for (const { because } of decisions) expect(because).not.toBe('');
      // A Service of the same name is another object: nobody mixes their decisions up.
      await cluster.client.resource({ group: '', version: 'v1', resource: 'services' }, 'default').create({
        metadata: { name: 'web' },
        spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
      });
      await expect
        .poll(() => cluster.explain('service/web').map(({ controller }) => controller), { timeout: 10_000 })
        .toContain('endpointslice-controller');
      expect(cluster.explain('deployment/web').map(({ controller }) => controller)).toEqual(['deployment-controller']);
    } finally {
      await cluster.stop();
    }
  });

  it('lets the apiserver do at kubelets what the role for it says, and no more at the API than read nodes', async () => {
    const cluster = await startCluster({ nodes: 0 });
    try {
      const may = async (resourceAttributes: object): Promise<boolean | undefined> => {
        const spec = { user: 'kube-apiserver-kubelet-client', groups: ['system:authenticated'], resourceAttributes };
        const reviews = cluster.client.resource<SubjectAccessReview>(accessReviews);
        return (await reviews.create({ metadata: {}, spec })).status?.allowed;
      };
      expect(await may({ verb: 'create', resource: 'nodes', subresource: 'proxy', name: 'a' })).toBe(true);
      expect(await may({ verb: 'get', resource: 'nodes', subresource: 'stats', name: 'a' })).toBe(true);
      expect(await may({ verb: 'list', resource: 'nodes' })).toBe(true);
      expect(await may({ verb: 'update', resource: 'nodes', name: 'a' })).toBe(false);
      expect(await may({ verb: 'list', resource: 'secrets' })).toBe(false);
    } finally {
      await cluster.stop();
    }
  });

  it('keeps clusters apart and authorizes', async () => {
    const [one, two] = await Promise.all([startCluster({ nodes: 0 }), startCluster({ nodes: 0 })]);
    try {
      await one.client.resource({ group: '', version: 'v1', resource: 'namespaces' }).create({ metadata: { name: 'only-here' } });
      const listed = await two.client.resource({ group: '', version: 'v1', resource: 'namespaces' }).list();
      expect(listed.items.map(({ metadata }) => metadata.name)).not.toContain('only-here');
      const nobody = one.clientFor({ name: 'nobody', groups: ['system:authenticated'] });
      await expect(nobody.resource(pods, 'default').list()).rejects.toMatchObject({ status: { code: 403, reason: 'Forbidden' } });
      expect(one.url).not.toBe(two.url);
    } finally {
      await Promise.all([one.stop(), two.stop()]);
    }
  });
});
