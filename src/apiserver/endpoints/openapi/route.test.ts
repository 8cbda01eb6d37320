import { describe, expect, it } from 'vitest';
import { finish } from '#utils';
import { identifier, nameOf, type Parameter, pathsV2, pathsV3, type Route } from './route.ts';

const pretty: Parameter = { name: 'pretty', in: 'query', type: 'string' };
const dryRun: Parameter = { name: 'dryRun', in: 'query', type: 'string' };
const force: Parameter = { name: 'force', in: 'query', type: 'boolean' };

const route = (method: string, parameters: readonly Parameter[]): Route => ({
  path: '/api/v1/things/{name}',
  method,
  id: `${method}Thing`,
  tag: 'core_v1',
  description: `${method} it`,
  parameters,
  body: { type: 'a.v1.Thing', required: true },
  consumes: ['*/*'],
  produces: ['application/json'],
  answers: [
    { status: 200, description: 'OK', type: 'string' },
    { status: 401, description: 'Unauthorized' },
  ],
});

const refer = (type: string): Record<string, unknown> => ({ $ref: `#/definitions/${type}` });

describe('names of operations', () => {
  it.each([
    [
      '/api/v1/namespaces/{namespace}/pods/{name}/exec',
      'connect',
      'GetNamespacedPodExec',
      'connectCoreV1GetNamespacedPodExec',
      'core_v1',
    ],
    [
      '/apis/rbac.authorization.k8s.io/v1/roles',
      'list',
      'RoleForAllNamespaces',
      'listRbacAuthorizationV1RoleForAllNamespaces',
      'rbacAuthorization_v1',
    ],
    ['/apis/apps/', 'get', 'APIGroup', 'getAppsAPIGroup', 'apps'],
    ['/version/', 'get', 'CodeVersion', 'getCodeVersion', 'version'],
  ])('%s is named by group, version and kind', (path, verb, rest, id, tag) => {
    expect(nameOf(path, verb, rest)).toEqual({ id, tag });
  });

  it('leave out what no identifier has', () => {
    expect(identifier('stable.example-1.com', true)).toBe('StableExample1Com');
    expect(identifier('a.b', false)).toBe('aB');
  });
});

describe('paths', () => {
  const routes = [route('get', [pretty, dryRun]), route('patch', [pretty, dryRun, force])];

  it('state once what all their operations take', () => {
    const item = finish(pathsV3(routes, refer))['/api/v1/things/{name}'] as Record<string, { parameters?: { name: string }[] }>;
    expect((item['parameters'] as unknown as { name: string }[]).map(({ name }) => name)).toEqual(['dryRun', 'pretty']);
    expect(item['get']?.parameters).toBeUndefined();
    expect(item['patch']?.parameters?.map(({ name }) => name)).toEqual(['force']);
  });

  it('of version 2 refer to shared parameters by names that upstream gives them', () => {
    const description =
      "If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent indicates a browser or command-line HTTP tool (curl and wget).";
    const { paths, parameters } = finish(pathsV2([route('get', [{ ...pretty, description }, dryRun])], refer));
    expect(Object.keys(parameters)).toEqual(['pretty-tJGM1-ng']);
    expect((paths['/api/v1/things/{name}'] as { parameters: unknown[] }).parameters).toContainEqual({
      $ref: '#/parameters/pretty-tJGM1-ng',
    });
  });

  it('of version 2 keep for themselves what old clients look for there', () => {
    const { paths } = finish(pathsV2([route('get', [dryRun]), route('patch', [force])], refer));
    const { get } = paths['/api/v1/things/{name}'] as { get: { parameters: { name?: string }[] } };
    expect(get.parameters.map(({ name }) => name)).toEqual(['body', 'dryRun']);
  });
});
