// docs/contributing.md, "I want to add an operation of the local cloud": what it looks like in `api`, and what it does to the world in `core`. This test
// follows the recipe in a copy of the room: routing, checks, OpenAPI and the typed client follow from the two.
import { expect, test } from 'vitest';
import { systemClock } from '#host';
import { seededRng, silentLogger } from '#utils';
import type * as memory from '../../../src/cloud/memory/index.ts';
import { replacing, treeWith } from './tree.ts';

const declared = `export const instanceOperations = {
  renameInstance: operation({
    method: 'POST',
    path: '/v1/instances/{instanceId}/rename',
    summary: 'Give an instance another name.',
    body: () => z.strictObject({ name }),
    response: instance,
    success: 200,
  }),`;
const done = `> = {
  renameInstance: (world, { instanceId, name }, context) =>
    into(world, { ...own(world, context, 'instances', instanceId), name }),`;
const tree = treeWith('cloud', {
  'api/instances.ts': replacing('export const instanceOperations = {', declared),
  'core/instances.ts': (text) =>
    replacing(/> = \{/, done)(replacing("  'runInstance' |", "  'renameInstance' | 'runInstance' |")(text)),
});

interface Renaming {
  renameInstance(input: { instanceId: string; name: unknown }): Promise<{ name: string }>;
}

test('an operation of the cloud is declared once and done once: it is routed, checked, described and kept', async () => {
  const { startMemoryCloud, memoryMachines } = await tree.load<typeof memory>('memory/index.ts');
  const { openApiDocument } = await tree.load<{ openApiDocument: () => { paths: object } }>('api/index.ts');
  const clock = systemClock();
  const cloud = await startMemoryCloud(
    { region: 'r', zones: ['r-a'], publicCidr: '198.18.0.0/24', drivers: [memoryMachines({ clock })] },
    { clock, rng: seededRng(1), logger: silentLogger },
  );
  try {
    const api = cloud.client();
    const vpc = await api.createVpc({ cidr: '10.0.0.0/16' });
    const subnet = await api.createSubnet({ vpcId: vpc.id, zone: 'r-a', cidr: '10.0.0.0/24' });
    const { id: instanceId } = await api.runInstance({ name: 'one', subnetId: subnet.id });
    const { renameInstance } = api as unknown as Renaming;
    await renameInstance.call(api, { instanceId, name: 'two' });
    expect((await api.getInstance({ instanceId })).name).toBe('two');
    await expect(renameInstance.call(api, { instanceId, name: '' })).rejects.toThrow(/name/);
    await expect(renameInstance.call(api, { instanceId: 'i-none', name: 'x' })).rejects.toThrow(/i-none/);
    expect(openApiDocument().paths).toHaveProperty('/v1/instances/{instanceId}/rename');
  } finally {
    await cloud.close();
  }
});
