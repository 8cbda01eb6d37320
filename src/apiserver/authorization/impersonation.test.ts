import { expect, test } from 'vitest';
import type { Authorizer } from './types.ts';
import type { Attributes, UserInfo } from '../request/request.ts';
import { createImpersonation, wantedUser } from './impersonation.ts';

const root: UserInfo = { name: 'root', groups: ['system:masters'] };
const request = (user: UserInfo): Attributes => ({
  user,
  verb: 'list',
  target: { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: '', name: '' },
});
const source = (headers: Record<string, string | string[]>) => ({ method: 'GET', path: '/', headers });
const allowing = (...rights: string[]): Authorizer => ({
  authorize: ({ verb, target }) => ({
    allowed: rights.includes('*') || rights.includes(`${verb} ${target?.resource}/${target?.name}`),
    reason: '',
  }),
});

test.each([
  [{ 'impersonate-user': 'jane' }, { name: 'jane', groups: ['system:authenticated'] }],
  [
    { 'impersonate-user': 'jane', 'impersonate-group': ['a, b', 'c'] },
    { name: 'jane', groups: ['a, b', 'c', 'system:authenticated'] },
  ],
  [
    { 'impersonate-user': 'jane', 'impersonate-group': 'system:unauthenticated' },
    { name: 'jane', groups: ['system:unauthenticated'] },
  ],
  [{ 'impersonate-user': 'system:anonymous' }, { name: 'system:anonymous', groups: ['system:unauthenticated'] }],
  [
    { 'impersonate-user': 'system:serviceaccount:ns:sa' },
    {
      name: 'system:serviceaccount:ns:sa',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    },
  ],
  [{ 'impersonate-user': 'system:node:n1' }, { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] }],
  [
    { 'impersonate-user': 'j', 'impersonate-uid': '1', 'impersonate-extra-acme.com%2fteam': 'x' },
    { name: 'j', uid: '1', groups: ['system:authenticated'], extra: { 'acme.com/team': ['x'] } },
  ],
])('%j', async (headers, user) => {
  expect((await createImpersonation(allowing('*'))(source(headers), request(root)))?.user).toEqual(user);
});

test('nobody asked for, or groups without a user', async () => {
  expect(wantedUser(source({}))).toBeUndefined();
  expect(() => wantedUser(source({ 'impersonate-group': 'dev' }))).toThrow(
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"dev"}, Extra:map[string][]string(nil)} without impersonating a user name',
  );
});

test('the legacy verb suffices, and system:masters needs it', async () => {
  const bob = { name: 'bob', groups: [] };
  const impersonate = createImpersonation(allowing('impersonate users/jane', 'impersonate groups/system:masters'));
  expect((await impersonate(source({ 'impersonate-user': 'jane' }), request(bob)))?.constraint).toBe('');
  const masters = { 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' };
  expect((await impersonate(source(masters), request(bob)))?.user.groups).toContain('system:masters');
  const constrained = createImpersonation(allowing('impersonate-on:user-info:list pods/', 'impersonate:user-info users/jane'));
  expect((await constrained(source({ 'impersonate-user': 'jane' }), request(bob)))?.constraint).toBe('impersonate:user-info');
  await expect(constrained(source(masters), request(bob))).rejects.toThrow(
    'impersonating the system:masters group is not allowed',
  );
});

test('without rights the first refusal is told', async () => {
  await expect(
    createImpersonation(allowing())(source({ 'impersonate-user': 'jane' }), request({ name: 'bob', groups: [] })),
  ).rejects.toThrow(
    'pods is forbidden: User "bob" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope',
  );
});
