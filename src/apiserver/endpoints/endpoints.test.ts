import { describe, expect, it } from 'vitest';
import { StatusError } from '#apimachinery/errors';
import { decodeContinue, encodeContinue } from '../registry/generic/continue-token.ts';
import { boundInFlight } from './in-flight.ts';
import { negotiate } from './negotiation.ts';
import { parseRequest } from './request-info.ts';

const none = new URLSearchParams();

describe('parseRequest', () => {
  it.each([
    [
      'GET',
      '/api/v1/namespaces/a/pods/p',
      { verb: 'get', group: '', namespace: 'a', resource: 'pods', name: 'p', subresource: '' },
    ],
    ['GET', '/api/v1/namespaces/a/pods', { verb: 'list', resource: 'pods', name: '' }],
    ['DELETE', '/api/v1/namespaces/a/pods', { verb: 'deletecollection' }],
    ['GET', '/api/v1/namespaces/a', { verb: 'get', resource: 'namespaces', namespace: 'a', name: 'a' }],
    ['PUT', '/api/v1/namespaces/a/finalize', { verb: 'update', resource: 'namespaces', subresource: 'finalize' }],
    [
      'GET',
      '/apis/apps/v1/watch/namespaces/a/deployments',
      { verb: 'watch', group: 'apps', resource: 'deployments', forceWatch: true },
    ],
    ['POST', '/api/v1/namespaces/a/pods/p/eviction', { verb: 'create', subresource: 'eviction' }],
    ['GET', '/api/v1/namespaces/a/configmaps/a%2Fb', { name: 'a', subresource: 'b' }],
    ['GET', '/healthz', { isResource: false, verb: 'get' }],
    ['GET', '/apis/apps', { isResource: false }],
  ])('%s %s', (method, path, expected) => expect(parseRequest(method, path, none)).toMatchObject(expected));

  it('tells watches by their parameter', () => {
    const verb = (value: string): string => parseRequest('GET', '/api/v1/pods', new URLSearchParams({ watch: value })).verb;
    expect([verb('1'), verb('true'), verb('0'), verb('false')]).toEqual(['watch', 'watch', 'list', 'list']);
  });
});

describe('negotiate', () => {
  const rules = { tables: true, protobuf: true, listable: false };
  it.each([
    ['', 'json', undefined],
    ['application/yaml', 'yaml', undefined],
    ['application/vnd.kubernetes.protobuf,application/json', 'protobuf', undefined],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'json', 'Table'],
    ['application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', 'json', 'PartialObjectMetadata'],
    ['application/json;as=Nope,application/yaml', 'yaml', undefined],
    ['application/json;q=0.1,application/yaml', 'yaml', undefined],
  ])('%s', (accept, encoding, as) => expect(negotiate(accept, rules, none, '')).toMatchObject({ encoding, ...(as && { as }) }));

  it.each(['text/html', 'application/*', 'application/json;v=v1'])('%s is not acceptable', (accept) => {
    expect(() => negotiate(accept, rules, none, '')).toThrow(StatusError);
  });
});

describe('continue tokens', () => {
  it('come back as the key behind the last one', () => {
    const token = encodeContinue('/registry/pods/ns/a', '/registry/pods/', 12);
    expect(decodeContinue(token, '/registry/pods/')).toEqual({ start: '/registry/pods/ns/a\0', revision: 12 });
  });

  it('cannot leave their prefix', () => {
    const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 1, start: '../secrets/a' })).toString('base64url');
    expect(() => decodeContinue(token, '/registry/pods/')).toThrow(/invalid continue token/);
  });
});

describe('boundInFlight', () => {
  it('turns away what is above the bound, until a place is free', () => {
    const bound = boundInFlight(1, 0);
    const leave = bound.enter(false);
    expect(() => bound.enter(false)).toThrow(/Too many requests/);
    bound.enter(true);
    leave();
    expect(() => bound.enter(false)).not.toThrow();
  });

  it('counts a place that is given back twice once', () => {
    const bound = boundInFlight(2, 2);
    const leave = bound.enter(true);
    bound.enter(true);
    leave();
    leave();
    expect(bound.count(true)).toBe(1);
  });

  it('keeps places for nodes and the control plane, and always lets administrators in', () => {
    const bound = boundInFlight(0, 4);
    const as = (name: string, ...groups: string[]) => bound.enter(true, { name, groups });
    for (let i = 0; i < 4; i++) as('tenant', 'system:authenticated');
    expect(() => as('tenant', 'system:authenticated')).toThrow(/Too many requests/);
    as('system:node:one', 'system:nodes');
    for (const [name, group] of [
      ['system:node:two', 'system:nodes'],
      ['system:kube-scheduler', 'system:authenticated'],
      ['system:serviceaccount:kube-system:dns', 'system:serviceaccounts:kube-system'],
    ] as const)
      expect(() => as(name, group)).toThrow(/Too many requests/);
    for (let i = 0; i < 10; i++) as('admin', 'system:masters');
    expect(bound.count(true)).toBe(5);
  });
});
