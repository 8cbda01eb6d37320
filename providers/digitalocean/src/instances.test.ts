import type { CloudProvider, InstancesV2 } from 'sagong/cloud-provider';
import { isInstanceNotFound } from 'sagong/cloud-provider';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pathOf } from '../test-server/index.ts';
import { afterTries, nodeWith, openWorld, readSdk, sdkTimeoutMs, type TestWorld } from '../test-server/world.ts';

beforeAll(readSdk, sdkTimeoutMs);

let world: TestWorld;
let instances: InstancesV2;
beforeEach(async () => {
  world = await openWorld();
  const cloud: CloudProvider = await world.open();
  instances = cloud.instancesV2 as InstancesV2;
});
afterEach(() => world.close());

const bare = (name: string, providerId = '') => nodeWith(name, {}, providerId);

describe('a droplet', () => {
  it('gives a Node its provider ID, size, region and addresses in order', async () => {
    const { id } = world.server.account.addDroplet('node-1', {
      privateIp: '10.128.9.5',
      publicIp: '192.0.9.5',
      publicIpv6: '2604:a880::5',
      size: 's-4vcpu-8gb',
      region: 'fra1',
    });
    expect(await instances.instanceMetadata(bare('node-1'))).toEqual({
      providerId: `digitalocean://${id}`,
      instanceType: 's-4vcpu-8gb',
      region: 'fra1',
      nodeAddresses: [
        { type: 'Hostname', address: 'node-1' },
        { type: 'InternalIP', address: '10.128.9.5' },
        { type: 'ExternalIP', address: '192.0.9.5' },
        { type: 'ExternalIP', address: '2604:a880::5' },
      ],
    });
    expect(world.server.requests.map(pathOf)).toEqual(['/v2/droplets?name=node-1&page=1&per_page=50']);
  });
  it.each([['10.128.9.5'], ['192.0.9.5'], ['2604:a880::5']])('is found by its address %s', async (name) => {
    for (let number = 0; number < 55; number++) world.server.account.addDroplet(`other-${number}`);
    const { id } = world.server.account.addDroplet('node-1', {
      privateIp: '10.128.9.5',
      publicIp: '192.0.9.5',
      publicIpv6: '2604:a880::5',
    });
    expect((await instances.instanceMetadata(bare(name)))?.providerId).toBe(`digitalocean://${id}`);
  });
  it('without a private address cannot be a Node', async () => {
    const { id } = world.server.account.addDroplet('node-1', { privateIp: null });
    await expect(instances.instanceMetadata(bare('node-1'))).rejects.toThrow(
      `getting node addresses of droplet ${id} for node node-1: could not get private ip`,
    );
  });
  it('that is private only has no external address', async () => {
    world.server.account.addDroplet('node-1', { publicIp: null });
    const types = (await instances.instanceMetadata(bare('node-1')))?.nodeAddresses.map(({ type }) => type);
    expect(types).toEqual(['Hostname', 'InternalIP']);
  });
  it('that is off exists; one that was destroyed does not', async () => {
    const droplet = world.server.account.addDroplet('node-1');
    const node = bare('node-1', `digitalocean://${droplet.id}`);
    expect(await instances.instanceShutdown(node)).toBe(false);
    droplet.status = 'off';
    expect(await instances.instanceShutdown(node)).toBe(true);
    expect(await instances.instanceExists(node)).toBe(true);
    world.server.account.droplets.delete(droplet.id);
    expect(await instances.instanceExists(node)).toBe(false);
    const error = await instances.instanceShutdown(node).catch((reason: unknown) => reason);
    expect(isInstanceNotFound(error)).toBe(true);
    expect(error).toMatchObject({ message: `droplet ${droplet.id} for node node-1 does not exist` });
  });
});

describe('in doubt nothing is concluded', () => {
  it('when several droplets have the name', async () => {
    const ids = [1, 2].map(() => world.server.account.addDroplet('node-1').id);
    await expect(instances.instanceExists(bare('node-1'))).rejects.toThrow(
      `several droplets are called node-1: ${ids.join(', ')}`,
    );
    expect(await instances.instanceExists(bare('node-1', `digitalocean://${ids[1]}`))).toBe(true);
  });
  it.each([500, 401, 503, 429])('when the API answers %i', async (status) => {
    world.server.fail({ status, times: 4 });
    const answer = afterTries(world.clock, instances.instanceExists(bare('node-1', 'digitalocean://5')));
    await expect(answer).rejects.toThrow(`: ${status}`);
  });
  it.each([
    ['aws:///eu-west-1a/i-1', 'provider ID "aws:///eu-west-1a/i-1" is missing prefix "digitalocean://"'],
    ['digitalocean://', 'provider ID number cannot be empty'],
    ['digitalocean://12x', 'failed to convert provider ID number "12x"'],
  ])('when the provider ID is %s', async (providerId, message) => {
    await expect(instances.instanceExists(bare('node-1', providerId))).rejects.toThrow(
      `determining droplet ID from providerID: ${message}`,
    );
    expect(world.server.requests).toEqual([]);
  });
  it('when nobody answers', async () => {
    await world.server.close();
    const answer = afterTries(world.clock, instances.instanceExists(bare('node-1', 'digitalocean://5')));
    await expect(answer).rejects.toThrow('ECONNREFUSED');
  });
});
