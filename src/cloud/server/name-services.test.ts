import { expect, it } from 'vitest';
import { type Clock, silentLogger } from '#utils';
import { quotas } from '../core/index.ts';
import { emptyWorld, type World } from '../model/index.ts';
import { NameServices } from './name-services.ts';
import type { NameServiceOptions } from './options.ts';

const settings = {
  region: 'r',
  zones: [],
  instanceTypes: [],
  publicCidr: '198.18.0.0/24',
  quotas,
  terminatedKeepMs: 0,
};
const vpc = (id: string, cidr: string): World => ({
  ...emptyWorld,
  vpcs: new Map([[id, { id, cidr, name: '', ownerId: '', tags: {}, createdAt: '' }]]),
});

it('serve each VPC while it is there, and try again until its namespace is', async () => {
  let world = vpc('vpc-00000001', '10.77.0.0/16');
  const due: (() => void)[] = [];
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    setTimer: (_, callback) => {
      due.push(callback);
      return { cancel: () => void due.splice(due.indexOf(callback) >>> 0, 1) };
    },
    sleep: () => Promise.resolve(),
  };
  const fire = async (): Promise<void> => {
    for (const callback of due.splice(0)) callback();
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  const asked: NameServiceOptions[] = [];
  const outside: NameServiceOptions[] = [];
  let closed = 0;
  const start = (options: NameServiceOptions) => {
    if (options.netns === 'sagong-abcdef-edge') {
      outside.push(options);
      return Promise.resolve({ close: () => void (closed += 1) });
    }
    asked.push(options);
    return asked.length < 3 ? Promise.reject(new Error('no namespace')) : Promise.resolve({ close: () => void (closed += 1) });
  };
  const services = new NameServices({ start, mark: 'abcdef', settings, world: () => world, clock, logger: silentLogger });
  services.changed();
  services.changed();
  for (let round = 0; round < 4; round++) await fire();
  expect(asked.map(({ netns, address }) => `${netns} ${address}`)).toEqual(
    Array.from({ length: 3 }, () => 'sagong-abcdef-vpc-00000001 10.77.0.2'),
  );
  expect(asked[2]?.resolve({ name: 'x.r.compute.internal', type: 'A' })).toMatchObject({ rcode: 'NXDOMAIN' });
  expect(asked[2]?.resolve({ name: 'x.test', type: 'A' })).toBe('forward');
  world = vpc('vpc-00000002', '10.78.0.0/16');
  services.changed();
  expect(closed).toBe(1);
  expect(outside).toHaveLength(1);
  expect(outside[0]).toMatchObject({ address: '198.18.0.2', forward: false });
  expect(outside[0]?.resolve({ name: 'x.r.compute.internal', type: 'A' })).toMatchObject({ rcode: 'NXDOMAIN' });
  services.close();
  await fire();
  expect(asked).toHaveLength(3);
  expect(closed).toBe(2);
});
