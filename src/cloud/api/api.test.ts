import { describe, expect, it } from 'vitest';
import { encodeRequest } from '../client/client.ts';
import { openApiDocument } from './openapi.ts';
import { parameterNames } from './operation.ts';
import { operationEntries, operations } from './operations.ts';
import { parseInput, queryObject } from './parse-input.ts';
import { routeRequest } from './route-request.ts';

describe('table of operations', () => {
  it.each(operationEntries)('%s is found by its method and path', (id, operation) => {
    const names = parameterNames(operation.path);
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(`${name}/1 2`));
    expect(routeRequest(operation.method, path)).toEqual({
      operationId: id,
      parameters: Object.fromEntries(names.map((name) => [name, `${name}/1 2`])),
    });
  });
  it('tells wrong paths from wrong methods', () => {
    expect(() => routeRequest('GET', '/v1/nonsense')).toThrow(expect.objectContaining({ status: 404 }));
    expect(() => routeRequest('PUT', '/v1/vpcs')).toThrow(expect.objectContaining({ status: 405 }));
    expect(() => routeRequest('GET', '/v1/vpcs/')).toThrow(expect.objectContaining({ status: 404 }));
    expect(() => routeRequest('GET', '/v1/vpcs/%zz')).toThrow(expect.objectContaining({ status: 400 }));
  });
  it('has no field twice in path, query and body', () => {
    for (const [id, { path, query, body }] of operationEntries) {
      const fields = [...parameterNames(path), ...Object.keys(query?.shape ?? {}), ...Object.keys(body?.shape ?? {})];
      expect([id, fields.length]).toEqual([id, new Set(fields).size]);
    }
  });
});

describe('input', () => {
  const parse = (id: keyof typeof operations, query: string, body?: unknown) =>
    parseInput(operations[id], {}, queryObject(new URLSearchParams(query)), body);
  it.each([
    ['listInstances', 'limit=0', undefined, 'limit'],
    ['listInstances', 'limit=x', undefined, 'limit'],
    ['listInstances', 'color=red', undefined, 'color'],
    ['listInstances', 'name=a&name=b', undefined, 'name'],
    ['getVpc', 'x=1', undefined, 'x'],
    ['createVpc', '', { cidr: '10.0.0.0' }, 'cidr'],
    ['createVpc', '', { cidr: '10.0.0.0/16', colour: 1 }, 'colour'],
    ['createVpc', '', [], undefined],
    ['putRoute', '', { target: { kind: 'moon' } }, 'target.kind'],
    ['putListeners', '', { listeners: [{ protocol: 'tcp', port: 0 }] }, 'listeners.0.port'],
  ] as const)('%s?%s %j is refused at %s', (id, query, body, field) => {
    expect(() => parse(id, query, body)).toThrow(expect.objectContaining({ code: 'InvalidParameterValue', field }));
  });
  it('fills in defaults and reads tags', () => {
    expect(parse('listInstances', 'tag.a=1&tag.b.c=2')).toEqual({ limit: 100, tags: { a: '1', 'b.c': '2' } });
    expect(parse('createVpc', '', { cidr: '10.0.0.0/16' })).toEqual({ name: 'vpc', cidr: '10.0.0.0/16', tags: {} });
  });
  it('is encoded by the client as the server reads it', () => {
    const { path, body } = encodeRequest(operations.putRoute, {
      routeTableId: 'rtb-1',
      destination: '10.0.0.0/24',
      target: { kind: 'internet-gateway' },
    });
    expect(routeRequest('PUT', path).parameters).toEqual({ routeTableId: 'rtb-1', destination: '10.0.0.0/24' });
    expect(JSON.parse(body ?? '')).toEqual({ target: { kind: 'internet-gateway' } });
    expect(encodeRequest(operations.listInstances, { tags: { 'a b': 'ü&' }, limit: 5 }).path).toBe(
      '/v1/instances?tag.a+b=%C3%BC%26&limit=5',
    );
  });
});

describe('OpenAPI document', () => {
  const text = JSON.stringify(openApiDocument());
  it('has every operation once and no dangling reference', () => {
    for (const [id] of operationEntries) expect(text.split(`"operationId":"${id}"`).length).toBe(2);
    const { components } = openApiDocument() as { components: { schemas: Record<string, unknown> } };
    for (const [, name = ''] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) expect(components.schemas).toHaveProperty(name);
    expect(text).toContain('"$ref":"#/components/schemas/LoadBalancer"');
  });
});
