import { expect, it } from 'vitest';
import { flowOf } from './users.ts';

it.each([
  ['alice', 'alice'],
  ['system:node:n1', 'system:node:n1'],
  ['system:serviceaccount:shop:one', 'namespace shop'],
  ['system:serviceaccount:shop:two', 'namespace shop'],
  ['system:serviceaccount:kube-system:job-controller', 'system:serviceaccount:kube-system:job-controller'],
  ['system:serviceaccount:shop', 'system:serviceaccount:shop'],
])('work of %s counts as that of %s', (user, flow) => expect(flowOf(user)).toBe(flow));
