// The machine driver with real namespaces: what packets can do, what becomes of instances, and what is left afterwards.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { machinePicture, MachineWorld, mayTest, server } from './machine-world.ts';

describe.skipIf(mayTest)(`the machine driver${mayTest ? ` (${mayTest})` : ''}`, () => {
  let cloud: MachineWorld;
  let before: Record<string, string>;
  beforeEach(async () => {
    before = await machinePicture();
    cloud = await MachineWorld.create();
  });
  afterEach(async () => {
    await cloud.destroy();
    expect(await machinePicture()).toEqual(before);
  });

  it('boots instances in two subnets that reach each other', async () => {
    cloud.vpc('a');
    const one = cloud.machine('one', cloud.subnet('a', '1', '10.20.1.0/24'), '10.20.1.5', { command: server(80) });
    const two = cloud.machine('two', cloud.subnet('a', '2', '10.20.2.0/24'), '10.20.2.5', { command: server(80) });
    const startedMs = performance.now();
    await cloud.realise();
    const networkMs = performance.now() - startedMs;
    await cloud.running(one, two);
    console.log('network', networkMs, 'all', performance.now() - startedMs);
    expect(await cloud.reached(one, '10.20.2.5', 80)).toBe('10.20.1.5');
    expect(await cloud.reached(two, '10.20.1.5', 80)).toBe('10.20.2.5');
  });
});
