import { describe, expect, it } from 'vitest';
import { goJson } from '#apimachinery/field';
import type { UnknownObject } from '#apimachinery/meta';
import { canonical, encodeStored, isSpliced, itemOffset, spliceVersion, versionOffset } from './encoding.ts';
import { builtinPrefix, customPrefix, keyParts, objectKey } from './keys.ts';
import { createSubtreeSharer } from './share.ts';
import { FieldIndex } from './field-index.ts';
import { SortedEntries } from './sorted-entries.ts';
import { encodeServed, fromStored, storedBytes, StoredObject } from './stored-object.ts';

const uid = '01234567-89ab-4cde-8f01-23456789abcd';
const configMap = (name: string, more: object = {}): UnknownObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { labels: { a: 'b' }, uid, name, namespace: 'ns' },
    data: { k: 'v' },
    ...more,
  }) as UnknownObject;

describe('keys', () => {
  it.each([
    ['', 'pods', '/registry/pods/'],
    ['', 'services', '/registry/services/specs/'],
    ['', 'endpoints', '/registry/services/endpoints/'],
    ['', 'nodes', '/registry/minions/'],
    ['', 'replicationcontrollers', '/registry/controllers/'],
    ['networking.k8s.io', 'ingresses', '/registry/ingress/'],
    ['rbac.authorization.k8s.io', 'roles', '/registry/roles/'],
    ['apiregistration.k8s.io', 'apiservices', '/registry/apiregistration.k8s.io/apiservices/'],
  ])('%s %s lives under %s', (group, resource, prefix) => expect(builtinPrefix(group, resource)).toBe(prefix));

  it('carries the group of custom resources', () => expect(customPrefix('x.io', 'ws')).toBe('/registry/x.io/ws/'));

  it('takes keys apart again', () => {
    const key = objectKey('/registry/pods/', 'ns', 'p');
    expect(key).toBe('/registry/pods/ns/p');
    expect(keyParts('/registry/pods/', key, true)).toEqual({ namespace: 'ns', name: 'p' });
    expect(keyParts('/registry/minions/', '/registry/minions/n', false)).toEqual({ namespace: '', name: 'n' });
  });
});

describe('encoding', () => {
  it('splices the version behind the uid and changes nothing else', () => {
    const stored = encodeStored(canonical(configMap('a', { data: { text: '"uid":"x"' } })));
    const served = spliceVersion(stored, versionOffset(stored), 42);
    const object = JSON.parse(served.toString()) as UnknownObject;
    expect(object.metadata.resourceVersion).toBe('42');
    expect({ ...object, metadata: { ...object.metadata, resourceVersion: undefined } }).toEqual({
      ...configMap('a', { data: { text: '"uid":"x"' } }),
      metadata: { ...configMap('a').metadata, resourceVersion: undefined },
    });
    expect(JSON.parse(`{${served.subarray(itemOffset(served)).toString()}`)).not.toHaveProperty('kind');
  });

  it('knows what a splice made, and what it did not make', () => {
    const stored = encodeStored(canonical(configMap('a')));
    const at = versionOffset(stored);
    const line = spliceVersion(stored, at, 42);
    expect(isSpliced(line, stored, at, 42)).toBe(true);
    expect(isSpliced(line, stored, at, 43)).toBe(false);
    expect(isSpliced(line, stored, at, 421)).toBe(false);
    for (const [from, to] of [
      ['"name":"a"', '"name":"b"'],
      ['"k":"v"', '"k":"w"'],
      ['"k":"v"', '"k":"vv"'],
    ] as const)
      expect(isSpliced(line, Buffer.from(stored.toString().replace(from, to)), at, 42)).toBe(false);
  });

  it('knows bytes that are not in its form', () => {
    expect(versionOffset(Buffer.from(JSON.stringify(configMap('a'))))).toBe(-1);
    expect(versionOffset(Buffer.from('k8s\0protobuf'))).toBe(-1);
  });

  it('serves a link that storage does not keep', () => {
    const object = configMap('a');
    object.metadata.selfLink = '/a';
    expect(JSON.parse(encodeServed(object).toString())).toMatchObject({ metadata: { selfLink: '/a' } });
    expect(canonical(object).metadata).not.toHaveProperty('selfLink');
  });

  it('serves what it reads from the store, parsed only when asked', () => {
    const stored = encodeStored(canonical(configMap('a')));
    const at = { key: '/registry/configmaps/ns/a', namespace: 'ns', name: 'a', revision: 7 };
    const entry = fromStored(at, stored, () => {
      throw new Error('not needed');
    });
    expect(entry.object.metadata.resourceVersion).toBe('7');
    expect(entry.line.equals(encodeServed(entry.object))).toBe(true);
    const gone = entry.at(9);
    expect(gone.object.metadata.resourceVersion).toBe('9');
    expect(entry.object.metadata.resourceVersion).toBe('7');
  });

  it('holds the value that the store holds, and makes a line only for who asks', () => {
    const stored = encodeStored(canonical(configMap('a', { data: { text: 'ä\u2028' } })));
    const at = { key: '/registry/configmaps/ns/a', namespace: 'ns', name: 'a', revision: 7 };
    const bytes = storedBytes(stored);
    expect(bytes?.value.buffer).toBe(stored.buffer);
    const entry = new StoredObject(at, undefined, bytes);
    const other = Buffer.from(stored);
    expect([entry.isStoredAs(other), entry.isStoredAs(Buffer.concat([other, other]))]).toEqual([true, false]);
    const before = entry.object;
    const { line } = entry;
    expect(JSON.parse(line.toString())).toEqual(before);
    entry.retire();
    expect(entry.line).not.toBe(line);
    expect(entry.line.equals(line)).toBe(true);
    expect(entry.object).toEqual(before);
    expect(Object.keys(entry.object.metadata).slice(0, 4)).toEqual(['name', 'namespace', 'uid', 'resourceVersion']);
  });

  it('keeps no message of megabytes for the sake of one value in it', () => {
    const stored = encodeStored(canonical(configMap('a')));
    const message = Buffer.concat([stored, Buffer.alloc(1_000_000)]);
    const kept = storedBytes(message.subarray(0, stored.length))?.value as Buffer;
    expect(kept.equals(stored)).toBe(true);
    expect(kept.buffer.byteLength).toBeLessThan(100_000);
  });
});

describe('SubtreeSharer', () => {
  it('keeps equal subtrees once, and only equal ones', () => {
    const { share } = createSubtreeSharer();
    const make = (image: string): UnknownObject =>
      ({
        metadata: { name: image },
        spec: { containers: [{ name: 'main-container', image, ports: [{ containerPort: 80 }] }] },
      }) as UnknownObject;
    const [a, b, c] = [make('nginx'), make('nginx'), make('other')] as [UnknownObject, UnknownObject, UnknownObject];
    for (const object of [a, b, c]) share(object);
    const containers = (object: UnknownObject): unknown => (object['spec'] as { containers: unknown }).containers;
    expect(containers(a)).toBe(containers(b));
    expect(containers(c)).not.toBe(containers(a));
    expect(c).toEqual(make('other'));
  });

  it('gives the text that Go would write, whatever is in it', () => {
    const { share } = createSubtreeSharer();
    const fieldsV1 = { 'f:spec': { 'f:containers': { 'k:{"name":"main-container"}': { '.': {}, 'f:image': {} } } } };
    const make = (): UnknownObject =>
      ({
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: {
          name: 'a',
          labels: { 'a<b': '&\u2028', app: 'a label that is long enough to be shared' },
          managedFields: [{ manager: 'm', operation: 'Update', fieldsV1 }, { manager: 'n' }],
          generation: 7,
        },
        spec: {
          containers: [{ name: 'main-container', image: 'nginx<>', args: null }],
          odd: undefined,
          nodeName: 'ä"\\',
          priority: 0,
        },
        status: [],
        ['__proto__x']: { a: 1 },
        data: { a: '1' },
      }) as unknown as UnknownObject;
    const [a, b] = [make(), make()];
    expect(share(a)).toBe(goJson(make()));
    expect(share(b)).toBe(goJson(make()));
    expect(share(a)).toBe(goJson(make()));
    const many = { ...make(), spec: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, { at }])) };
    expect(share({ ...many, metadata: { ...many.metadata } })).toBe(goJson(many));
  });
});

describe('SortedEntries', () => {
  it('walks keys in order from anywhere, whatever the order of inserts and deletes', () => {
    const entries = new SortedEntries<number>();
    const keys = Array.from({ length: 3_000 }, (_, at) => `/p/${String((at * 7919) % 3_000).padStart(4, '0')}`);
    keys.forEach((key, at) => entries.set(key, at));
    for (let at = 0; at < 3_000; at += 3) entries.delete(`/p/${String(at).padStart(4, '0')}`);
    const expected = [...keys].sort().filter((key) => Number(key.slice(3)) % 3 !== 0);
    const seen: string[] = [];
    entries.walk('/p/', '/p/', (_, key) => void seen.push(key));
    expect(seen).toEqual(expected);
    const from: string[] = [];
    entries.walk('/p/', '/p/1500', (_, key) => {
      from.push(key);
      return from.length < 2;
    });
    expect(from).toEqual(['/p/1501', '/p/1502']);
    expect(entries.size).toBe(expected.length);
    for (const start of ['', '/p/', '/p/0001', '/p/1500', '/p/2999', '/p/9', '/q'])
      expect(entries.count('/p/', start)).toBe(expected.filter((key) => key >= start).length);
    expect(entries.count('/p/1', '')).toBe(expected.filter((key) => key.startsWith('/p/1')).length);
    expect([entries.count('/o/', ''), entries.count('/q/', '')]).toEqual([0, 0]);
    const numbers = expected.map((key) => keys.indexOf(key));
    for (const prefix of ['/p/', '/p/0', '/p/1', '/p/29', '/p/0004'])
      expect(entries.last(prefix)).toBe(numbers[expected.findLastIndex((key) => key.startsWith(prefix))]);
    expect(entries.last('/o/')).toBeUndefined();
    expect(entries.last('/p/3')).toBeUndefined();
    expect(entries.last('/q/')).toBeUndefined();
    expect(new SortedEntries<number>().last('/p/')).toBeUndefined();
    expect(entries.values('')).toEqual(numbers);
  });

  it('objects are found by the value of a field, also when it changes and when they go', () => {
    const index = new FieldIndex(({ object }) => (object['spec'] as { nodeName: string }).nodeName);
    const on = (name: string, nodeName: string): StoredObject =>
      new StoredObject({ key: `/p/${name}`, namespace: '', name, revision: 1 }, { metadata: { name }, spec: { nodeName } });
    const [a, b, moved] = [on('a', 'one'), on('b', 'one'), on('b', 'two')];
    index.change(undefined, b);
    index.change(undefined, a);
    expect(index.find(['one'])).toEqual([a, b]);
    index.change(b, moved);
    expect([index.find(['one']), index.find(['two']), index.find(['three'])]).toEqual([[a], [moved], []]);
    index.change(a, undefined);
    expect(index.find(['one'])).toEqual([]);
    index.clear();
    expect(index.find(['two'])).toEqual([]);
  });

  it('keeps prefixes apart', () => {
    const entries = new SortedEntries<number>();
    for (const key of ['/p/a/1', '/p/a-b/1', '/p/b/1', '/p/ab/1']) entries.set(key, 1);
    const seen: string[] = [];
    entries.walk('/p/a/', '/p/a/', (_, key) => void seen.push(key));
    expect(seen).toEqual(['/p/a/1']);
  });
});
