// The loops about bootstrap tokens beside a whole apiserver, each with no more than its own rights.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ConfigMap, Secret } from '#api/core/v1';
import { runKubeControllerManager } from '#controller-manager';
import { defaultLeaderElection } from '#component-base';
import { defaultControllersConfig } from '#controllers';
import { createClient } from '#client';
import { systemClock } from '#host';
import { detachedJws } from '#pki';
import { startTestControlPlane, type TestControlPlane } from '#testing';
import { seededRng, silentLogger } from '#utils';

const core = (resource: string) => ({ group: '', version: 'v1', resource });
const clock = systemClock();
let plane: TestControlPlane;
let manager: { running(): string[]; stop(): Promise<void> };

async function eventually<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`not within 15 s: ${what}`);
    await clock.sleep(20);
  }
}

beforeAll(async () => {
  plane = await startTestControlPlane({ clock, whole: true });
  const client = (name: string, ...groups: string[]) =>
    createClient(plane.apiserver.transport({ name, groups: [...groups, 'system:authenticated'] }, 'test'));
  manager = runKubeControllerManager(
    {
      controllers: ['bootstrapsigner', 'tokencleaner'],
      config: defaultControllersConfig,
      leaderElection: { ...defaultLeaderElection('kube-controller-manager'), leaderElect: false },
      identity: 'test',
    },
    {
      client: client('system:kube-controller-manager'),
      clientFor: (name) => client(`system:serviceaccount:kube-system:${name}`, 'system:serviceaccounts'),
      clock,
      rng: seededRng(1),
      logger: silentLogger,
    },
  );
});
afterAll(async () => {
  await manager.stop();
  await plane.stop();
});

it('sign the public configuration, and remove token and signature when the token expires', async () => {
  const kubeconfig = 'apiVersion: v1\nkind: Config\n';
  const maps = plane.client.resource<ConfigMap>(core('configmaps'), 'kube-public');
  const secrets = plane.client.resource<Secret>(core('secrets'), 'kube-system');
  await maps.create({ metadata: { name: 'cluster-info' }, data: { kubeconfig } });
  const made = (id: string, expiration?: string): Secret => ({
    metadata: { name: `bootstrap-token-${id}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-signing': 'true',
      ...(expiration && { expiration }),
    },
  });
  await secrets.create(made('abcdef'));
  await secrets.create(made('ghijkl', new Date(clock.now() + 3_000).toISOString()));
  const data = async () => (await maps.get('cluster-info')).data ?? {};
  await eventually('both signatures', async () => Object.keys(await data()).length === 3);
  expect((await data())['jws-kubeconfig-abcdef']).toBe(detachedJws(kubeconfig, 'abcdef', '0123456789abcdef'));
  await eventually('the end of the second', async () => !('jws-kubeconfig-ghijkl' in (await data())));
  await eventually('its deletion', async () =>
    (await secrets.list()).items.every(({ metadata }) => metadata.name !== 'bootstrap-token-ghijkl'),
  );
  expect((await secrets.get('bootstrap-token-abcdef')).type).toBe('bootstrap.kubernetes.io/token');
  expect(manager.running()).toEqual(['bootstrap-signer-controller', 'token-cleaner-controller']);
});
