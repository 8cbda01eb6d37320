// kube-apiserver's --allow-privileged reaches the rules of pods.
import { expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import { defaultOptions, runKubeApiServer } from '#apiserver/app';
import { createClient } from '#client';
import { systemRng } from '#host';
import { openMemoryStore } from '#store';
import { virtualClock } from '#testing';
import { silentLogger } from '#utils';

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'tool', namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'x', securityContext: { privileged: true } }] },
} as Pod;

async function create(allowPrivileged: boolean): Promise<Pod> {
  const clock = virtualClock();
  const store = openMemoryStore({ clock });
  const options = {
    ...defaultOptions(),
    bindAddress: '127.0.0.1',
    securePort: 0,
    disableAdmissionPlugins: ['ServiceAccount'],
    allowPrivileged,
  };
  const server = await runKubeApiServer(options, { clock, rng: systemRng(), logger: silentLogger, store });
  try {
    await server.started;
    const client = createClient(server.transport({ name: 'admin', groups: ['system:masters'] }));
    return await client.resource<Pod>({ group: '', version: 'v1', resource: 'pods' }, 'default').create(pod);
  } finally {
    await server.close();
    await store.close();
  }
}

it('lets privileged containers in only where it is set', async () => {
  await expect(create(false)).rejects.toThrow(
    'Pod "tool" is invalid: spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy',
  );
  expect((await create(true)).spec?.containers[0]?.securityContext?.privileged).toBe(true);
});
