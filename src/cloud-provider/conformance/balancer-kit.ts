// What the contracts of load balancers ask and look at: the provider, machines that are Nodes, and the cloud past the provider.
import assert from 'node:assert/strict';
import type { Service } from '#api/core/v1';
import type { LoadBalancer } from '../types.ts';
import { type ConformanceCluster, type ConformanceWorld, nodeNamed } from './target.ts';

export const balancer = ({ cloud }: ConformanceCluster): LoadBalancer => {
  assert.ok(cloud.loadBalancer, 'the provider offers load balancers');
  return cloud.loadBalancer;
};

export async function sends(world: ConformanceWorld, service: Service, expected: string[]): Promise<void> {
  if (world.backends) assert.deepEqual((await world.backends(service)).toSorted(), expected.toSorted());
}
export async function listens(world: ConformanceWorld, service: Service, expected: string[]): Promise<void> {
  if (!world.listeners) return;
  const found = await world.listeners(service);
  const words = found[0]?.split(' ').length ?? 3;
  const wanted = expected.map((one) => one.split(' ').slice(0, words).join(' '));
  assert.deepEqual(found.toSorted(), wanted.toSorted());
}
export async function letsIn(world: ConformanceWorld, service: Service, expected: string[]): Promise<void> {
  if (world.sources) assert.deepEqual([...new Set(await world.sources(service))].toSorted(), expected.toSorted());
}
export const nothingLeft = async (world: ConformanceWorld): Promise<void> =>
  assert.deepEqual((await world.leftovers?.()) ?? [], []);

export async function otherClusterOf(world: ConformanceWorld): Promise<ConformanceCluster> {
  const { addInstance } = world;
  if (world.otherCluster) return { addInstance, ...(await world.otherCluster()) };
  assert.ok(world.secondProvider, 'the target can open a second provider');
  return { addInstance, cloud: await world.secondProvider(), cluster: `${world.cluster}-other` };
}

export const nodesOf = async (world: ConformanceCluster, ...names: string[]) => {
  for (const name of names) await world.addInstance(name);
  return Promise.all(
    names.map(async (name) => {
      const known = await world.cloud.instancesV2?.instanceMetadata(nodeNamed(name));
      const node = nodeNamed(name, known?.providerId === undefined ? {} : { providerID: known.providerId });
      return { ...node, status: { addresses: known?.nodeAddresses ?? [] } };
    }),
  );
};
