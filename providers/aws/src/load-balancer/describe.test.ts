import { describe, expect, it } from 'vitest';
import type { Cloud } from '../cloud.ts';
import { describeClassic } from './classic/describe.ts';
import { describeNetwork } from './network/describe.ts';

describe('an answer without its list', () => {
  const cloud = { api: { elb: () => Promise.resolve({}), elbv2: () => Promise.resolve({}) } } as unknown as Cloud;
  it.each([
    ['classic', describeClassic],
    ['network', describeNetwork],
  ])('does not say that a %s load balancer is gone', (_kind, ask) =>
    expect(ask(cloud, 'a1')).rejects.toThrow('does not say whether there is a load balancer a1'),
  );
});
