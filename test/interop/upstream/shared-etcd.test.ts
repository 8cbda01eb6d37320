// Our apiserver and upstream's at one etcd: node ports and cluster IPs are claimed where both look, so that neither hands out what the other has.
// Skipped unless SAGONG_UPSTREAM_BIN names a folder with upstream's programs (build.sh).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { versionOf } from '../etcd-cluster.ts';
import type { Api } from './api.ts';
import { hasUpstream, World } from './world.ts';

const canRun = hasUpstream('kube-apiserver') && versionOf('etcd') !== undefined;
const ports = 40;
const services = '/api/v1/namespaces/default/services';
const service = (name: string, nodePort?: number) => ({
  metadata: { name },
  spec: { type: 'NodePort', ports: [{ port: 80, nodePort }] },
});
interface Made {
  spec: { clusterIP: string; ports: { nodePort: number }[] };
}
const portOf = ({ spec }: Made): number => spec.ports[0]?.nodePort ?? 0;

describe.skipIf(!canRun)('one etcd for two makers (skipped without SAGONG_UPSTREAM_BIN and etcd)', () => {
  let world: World;
  let apis: Api[] = [];

  beforeAll(async () => {
    world = await World.create();
    const etcd = await world.startEtcd();
    const range = [`--service-node-port-range=30000-${30_000 + ports - 1}`];
    for (const maker of ['upstream', 'sagong'] as const) apis.push(await world.startApiServer(maker, etcd, range));
  });
  afterAll(async () => world?.stop());

  it('hands out every port once, and gives back to the other', async () => {
    const made = await Promise.all(
      Array.from({ length: ports }, (_, i) => (apis[i % 2] as Api).call<Made>('POST', services, service(`web-${i}`))),
    );
    expect(new Set(made.map(portOf)).size).toBe(ports);
    expect(new Set(made.map(({ spec }) => spec.clusterIP)).size).toBe(ports);
    const late = await Promise.all(apis.map((api) => api.raw('POST', services, service('late'))));
    expect(late.map(({ status }) => status)).toEqual([500, 500]);
    expect(late.map(({ text }) => (JSON.parse(text) as { message: string }).message)).toEqual(
      Array(2).fill('Internal error occurred: failed to allocate a nodePort: range is full'),
    );
    const [upstream, ours] = apis as [Api, Api];
    for (const [from, to, at] of [
      [upstream, ours, 0],
      [ours, upstream, 1],
    ] as const) {
      await from.call('DELETE', `${services}/web-${at}`);
      const again = await to.call<Made>('POST', services, service(`again-${at}`, portOf(made[at] as Made)));
      expect(portOf(again)).toBe(portOf(made[at] as Made));
    }
  });
});
