import { describe, expect, it } from 'vitest';
import { StatusError } from '#apimachinery/errors';
import { decodeContinue, encodeContinue } from '../registry/generic/continue-token.ts';
import { boundedSeats } from '../chain/links/limit.ts';
import { readUri } from '../request/uri.ts';
import { negotiate } from './negotiation.ts';

const none = new URLSearchParams();

describe('what a path asks for', () => {
  it.each([
    ['GET', '/api/v1/namespaces/a/pods/p', 'get', { group: '', namespace: 'a', resource: 'pods', name: 'p', subresource: '' }],
    ['GET', '/api/v1/namespaces/a/pods', 'list', { resource: 'pods', name: '' }],
    ['DELETE', '/api/v1/namespaces/a/pods', 'deletecollection', {}],
    ['GET', '/api/v1/namespaces/a', 'get', { resource: 'namespaces', namespace: 'a', name: 'a' }],
    ['PUT', '/api/v1/namespaces/a/finalize', 'update', { resource: 'namespaces', subresource: 'finalize' }],
    ['GET', '/apis/apps/v1/watch/namespaces/a/deployments', 'watch', { group: 'apps', resource: 'deployments' }],
    ['POST', '/api/v1/namespaces/a/pods/p/eviction', 'create', { subresource: 'eviction' }],
    ['GET', '/api/v1/namespaces/a/configmaps/a%2Fb', 'get', { name: 'a', subresource: 'b' }],
  ])('%s %s: %s', (method, path, verb, target) => expect(readUri(method, path)).toMatchObject({ verb, target }));

  it.each(['/healthz', '/apis/apps', '/api', '/'])('%s is no resource', (path) =>
    expect(readUri('GET', path)).toMatchObject({ verb: 'get', target: undefined }),
  );

  it('is a watch by the parameter or the old path', () => {
    const verb = (value: string) => readUri('GET', `/api/v1/pods?watch=${value}`).verb;
    expect(['1', 'true', '', '0', 'false'].map(verb)).toEqual(['watch', 'watch', 'watch', 'list', 'list']);
    expect(readUri('GET', '/api/v1/watch/pods').options.watch).toBe(true);
  });
});

describe('options of a query', () => {
  it('are typed, the first of several counts, and what is no number is kept as a problem', () => {
    expect(readUri('GET', '/?limit=5&limit=7&watch=0&dryRun=All&dryRun=x&force&command=a&timeoutSeconds=1s').options).toEqual({
      limit: 5,
      watch: false,
      dryRun: ['All', 'x'],
      force: true,
      problems: { timeoutSeconds: 'strconv.ParseInt: parsing "1s": invalid syntax' },
    });
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

describe('seats', () => {
  const as = (verb: string, name = 'me', ...groups: string[]) => ({ verb, user: { name, groups } });

  it('are refused above the bound, for reading and changing apart, until one is free', async () => {
    const seats = boundedSeats(1, 0);
    const leave = await seats.take(as('list'));
    expect(() => seats.take(as('get'))).toThrow(/Too many requests/);
    await seats.take(as('create'));
    leave();
    expect(() => seats.take(as('get'))).not.toThrow();
  });

  it('that are given back twice count once', async () => {
    const seats = boundedSeats(2, 2);
    const leave = await seats.take(as('create'));
    await seats.take(as('create'));
    leave();
    leave();
    await seats.take(as('create'));
    expect(() => seats.take(as('create'))).toThrow(/Too many requests/);
  });

  it('are kept for nodes and the control plane, and administrators always get in', async () => {
    const seats = boundedSeats(0, 4);
    for (let i = 0; i < 4; i++) await seats.take(as('create', 'tenant', 'system:authenticated'));
    expect(() => seats.take(as('create', 'tenant', 'system:authenticated'))).toThrow(/Too many requests/);
    const leave = await seats.take(as('create', 'system:node:one', 'system:nodes'));
    for (const [name, group] of [
      ['system:node:two', 'system:nodes'],
      ['system:kube-scheduler', 'system:authenticated'],
      ['system:serviceaccount:kube-system:dns', 'system:serviceaccounts:kube-system'],
    ] as const)
      expect(() => seats.take(as('update', name, group))).toThrow(/Too many requests/);
    for (let i = 0; i < 10; i++) await seats.take(as('delete', 'admin', 'system:masters'));
    leave();
    expect(() => seats.take(as('create', 'system:node:two', 'system:nodes'))).not.toThrow();
  });
});
