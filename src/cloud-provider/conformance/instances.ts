// Contracts of instances: what exists, what is stopped, what is not known.
import assert from 'node:assert/strict';
import { isInstanceNotFound, isNotImplemented } from '../errors.ts';
import type { InstanceMetadata, InstancesV2 } from '../types.ts';
import { type ConformanceWorld, nodeNamed } from './target.ts';
import type { Checks } from './suite.ts';

const v2 = ({ cloud }: ConformanceWorld): InstancesV2 => {
  assert.ok(cloud.instancesV2, 'the provider offers instancesV2');
  return cloud.instancesV2;
};

async function metadata(world: ConformanceWorld, name: string): Promise<InstanceMetadata> {
  const found = await v2(world).instanceMetadata(nodeNamed(name));
  assert.ok(found, `metadata of ${name}`);
  return found;
}

const terminationSettles = async (ask: () => Promise<boolean>): Promise<boolean> => {
  for (let round = 0; round < 3; round++) if (!(await ask())) return false;
  return ask();
};

export const instanceChecks: Checks = {
  'instances: metadata names the provider, the machine and an address': async (world) => {
    await world.addInstance('node-a');
    const { providerId = '', nodeAddresses } = await metadata(world, 'node-a');
    assert.match(providerId, /^[a-z0-9-]+:\/\/.+$/);
    assert.ok(nodeAddresses.length > 0, 'at least one address');
    for (const { type, address } of nodeAddresses) {
      assert.ok(['InternalIP', 'ExternalIP', 'Hostname', 'InternalDNS', 'ExternalDNS'].includes(type), `address type ${type}`);
      assert.notEqual(address, '');
    }
  },
  'instances: two machines have two provider IDs, the same at every call': async (world) => {
    await world.addInstance('node-a');
    await world.addInstance('node-b');
    const [first, again, other] = [
      await metadata(world, 'node-a'),
      await metadata(world, 'node-a'),
      await metadata(world, 'node-b'),
    ];
    assert.deepEqual(again, first);
    assert.notEqual(other.providerId, first.providerId);
  },
  'instances: a provider ID finds the machine whatever the Node is called': async (world) => {
    await world.addInstance('node-a');
    const { providerId } = await metadata(world, 'node-a');
    const renamed = nodeNamed('another-name', { providerID: providerId });
    assert.equal(await v2(world).instanceExists(renamed), true);
    assert.equal((await v2(world).instanceMetadata(renamed))?.providerId, providerId);
  },
  'instances: a Node that has no machine does not exist': async (world) => {
    assert.equal(await v2(world).instanceExists(nodeNamed('nobody')), false);
    await assert.rejects(async () => {
      const found = await v2(world).instanceMetadata(nodeNamed('nobody'));
      if (found === undefined) throw Object.assign(new Error('not known yet'), { code: 'InstanceNotFound' });
    }, isInstanceNotFound);
  },
  "instances: a provider ID of another cloud's does not exist here": async (world) => {
    await world.addInstance('node-a');
    const foreign = nodeNamed('node-a', { providerID: 'some-other-cloud://node-a' });
    await v2(world)
      .instanceExists(foreign)
      .then(
        (exists) => assert.equal(typeof exists, 'boolean'),
        (error: unknown) => assert.ok(error instanceof Error),
      );
  },
  'instances: a terminated machine does not exist': async (world) => {
    await world.addInstance('node-a');
    const { providerId } = await metadata(world, 'node-a');
    await world.terminateInstance('node-a');
    const node = nodeNamed('node-a', { providerID: providerId });
    assert.equal(await terminationSettles(() => v2(world).instanceExists(node)), false);
  },
  'instances: a stopped machine exists and is shut down': async (world) => {
    assert.ok(world.stopInstance, 'the target can stop machines');
    await world.addInstance('node-a');
    const node = nodeNamed('node-a', { providerID: (await metadata(world, 'node-a')).providerId });
    assert.equal(await v2(world).instanceShutdown(node), false);
    await world.stopInstance('node-a');
    assert.equal(await v2(world).instanceExists(node), true);
    const stopped = await v2(world)
      .instanceShutdown(node)
      .catch((error: unknown) => {
        if (isNotImplemented(error)) return true;
        throw error;
      });
    assert.equal(stopped, true);
  },
  'instances: thousands are told apart': async (world, { instancesMany }) => {
    const names = Array.from({ length: instancesMany }, (_, index) => `node-${index}`);
    for (const name of names) await world.addInstance(name);
    const ids = await Promise.all(names.map(async (name) => (await metadata(world, name)).providerId));
    assert.equal(new Set(ids).size, names.length);
  },
};
