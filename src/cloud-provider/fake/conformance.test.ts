import { describe, expect, it } from 'vitest';
import type { Service } from '#api/core/v1';
import { keyOf } from '#apimachinery/meta';
import type { Clock } from '#utils';
import { conformance, conformanceCases, type ConformanceTarget } from '../conformance/index.ts';
import { FakeCloud, fakeProvider } from './index.ts';

const clock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  setTimer: () => ({ cancel() {} }),
  sleep: () => Promise.resolve(),
};

const target = (spoil: (cloud: FakeCloud) => void = () => {}): ConformanceTarget => ({
  open() {
    const cloud = new FakeCloud({ clock });
    spoil(cloud);
    return {
      cloud: fakeProvider(cloud),
      cluster: 'kubernetes',
      addInstance: (name) => void cloud.addInstance(name),
      stopInstance(name) {
        const instance = cloud.instanceOf(name);
        if (instance) instance.state = 'stopped';
      },
      terminateInstance: (name) => cloud.removeInstance(name),
      backends: ({ metadata }: Service) =>
        [...cloud.balancers.values()].find(
          ({ serviceUid, service }) => serviceUid === metadata.uid && service === keyOf(metadata),
        )?.backends ?? [],
      leftovers: () => [...cloud.balancers.keys()],
      failInTheMiddle: () => cloud.gate.failNext('ensureLoadBalancer:listeners', new Error('half way')),
      secondProvider: () => fakeProvider(cloud),
    };
  },
});

conformance(target(), { describe, it });

describe('the suite itself', () => {
  it('fails a provider that leaks', async () => {
    const cases = conformanceCases(target((cloud) => void (cloud.balancers.delete = () => false)));
    const failed: string[] = [];
    for (const { name, run } of cases) await run().catch(() => failed.push(name));
    expect(failed).toContain('load balancers: made, found, deleted');
  });
  it('refuses a skip of nothing', () => {
    expect(() => conformanceCases({ ...target(), skips: { nonsense: 'because' } })).toThrow('no conformance case');
  });
});
