import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#host';
import { type Clock, seededRng, silentLogger } from '#utils';
import { CloudApiError } from '../client/index.ts';
import { type MemoryCloud, memoryLoadBalancers, memoryMachines, startMemoryCloud } from './index.ts';

/** Sleeps are over at once, and noted. */
function hastyClock(slept: number[]): Clock {
  return {
    ...systemClock(),
    sleep: (delayMs) => {
      slept.push(delayMs);
      return Promise.resolve();
    },
  };
}

let cloud: MemoryCloud;
let slept: number[];

beforeEach(async () => {
  slept = [];
  const clock = hastyClock(slept);
  cloud = await startMemoryCloud(
    {
      region: 'r',
      zones: ['r-a'],
      publicCidr: '198.18.0.0/24',
      drivers: [memoryMachines({ clock }), memoryLoadBalancers()],
    },
    { clock, rng: seededRng(1), logger: silentLogger },
  );
});
afterEach(() => cloud.close());

const refused = (call: Promise<unknown>): Promise<CloudApiError> =>
  call.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: unknown) => {
      if (!(error instanceof CloudApiError)) throw error;
      return error;
    },
  );

async function instance(): Promise<string> {
  const api = cloud.client();
  const vpc = await api.createVpc({ cidr: '10.0.0.0/16' });
  const subnet = await api.createSubnet({ vpcId: vpc.id, zone: 'r-a', cidr: '10.0.0.0/24' });
  return (await api.runInstance({ name: 'one', subnetId: subnet.id })).id;
}

describe('a cloud in memory', () => {
  it('runs, shows and ends what it is asked for', async () => {
    const api = cloud.client();
    const instanceId = await instance();
    await new Promise((resolve) => setImmediate(resolve));
    expect((await api.getInstance({ instanceId })).state).toBe('running');
    expect((await api.listInstances({ name: 'one' })).items).toHaveLength(1);
    await api.terminateInstance({ instanceId });
    await new Promise((resolve) => setImmediate(resolve));
    expect(cloud.world.instances.get(instanceId)?.state).toBe('terminated');
    expect(cloud.calls().map(({ operation }) => operation)).toContain('terminateInstance');
  });
  it('checks input as the server does, and answers with the same errors', async () => {
    const api = cloud.client();
    expect(await refused(api.createVpc({ cidr: 'nonsense' }))).toMatchObject({ status: 400, field: 'cidr' });
    expect(await refused(api.getInstance({ instanceId: 'i-none' }))).toMatchObject({ status: 404 });
  });
  it('hands out copies', async () => {
    const api = cloud.client();
    const instanceId = await instance();
    (await api.getInstance({ instanceId })).name = 'changed';
    expect((await api.getInstance({ instanceId })).name).toBe('one');
  });
  it('keeps accounts apart', async () => {
    const instanceId = await instance();
    const other = cloud.client({ id: 'other', role: 'customer' });
    expect(await refused(other.getInstance({ instanceId }))).toMatchObject({ status: 404 });
  });
  it('fails on request, and stops failing', async () => {
    const api = cloud.client();
    cloud.setFaults({ errorRate: 1 });
    expect(await refused(api.listZones())).toMatchObject({ status: 500 });
    cloud.setFaults({ throttleRate: 1, retryAfterSeconds: 7 });
    expect(await refused(api.listZones())).toMatchObject({ status: 429, retryAfterMs: 7_000 });
    cloud.setFaults({ outage: true });
    expect(await refused(api.listZones())).toMatchObject({ status: 0, code: 'Unreachable' });
    cloud.setFaults({ errorRate: 1, operations: ['createVpc'] });
    expect((await api.listZones()).items).toHaveLength(1);
    expect(await refused(api.createVpc({ cidr: '10.0.0.0/16' }))).toMatchObject({ status: 500 });
    cloud.setFaults({ latencyMs: 700 });
    await api.listZones();
    expect(slept).toContain(700);
    cloud.setFaults({});
    expect((await api.listZones()).items).toHaveLength(1);
    expect(() => cloud.setFaults({ errorRate: 2 })).toThrow();
    expect(() => cloud.setFaults({ operations: ['misspelt'] })).toThrow('there is no operation misspelt');
  });
  it('lets a caller go when its signal says so', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(cloud.client().listZones({}, { signal })).rejects.toThrow('enough');
  });
});
