import { expect, test } from 'vitest';
import { dropNulls, withoutNulls } from './values.ts';

const revision = () => ({
  kind: 'ControllerRevision',
  metadata: { labels: null },
  data: { spec: { creationTimestamp: null } },
  revision: 1,
});
const kept = { kind: 'ControllerRevision', metadata: {}, data: { spec: { creationTimestamp: null } }, revision: 1 };

test('nulls are absent, but in values without a type', () => {
  const draft = revision();
  dropNulls(draft);
  expect(draft).toEqual(kept);
  expect(withoutNulls(revision())).toEqual(kept);
  expect(withoutNulls({ data: null })).toEqual({});
});

test('a null in a map of texts is absent, whatever the map is called', () => {
  const secret = () => ({ kind: 'Secret', data: { a: null, b: 'eA==' } });
  const storageClass = () => ({ kind: 'StorageClass', provisioner: 'p', parameters: { driver: 'd', b: null } });
  const claim = () => ({ config: [{ opaque: { driver: 'd', parameters: { a: null } } }] });
  for (const [make, want] of [
    [secret, { kind: 'Secret', data: { b: 'eA==' } }],
    [storageClass, { kind: 'StorageClass', provisioner: 'p', parameters: { driver: 'd' } }],
    [claim, claim()],
  ] as const) {
    const draft = make();
    dropNulls(draft);
    expect([draft, withoutNulls(make())]).toEqual([want, want]);
  }
});

test("a null in a value of a definition's schema is kept, one in a schema is absent, whatever its field is called", () => {
  const definition = (more: object) => ({
    kind: 'CustomResourceDefinition',
    spec: {
      versions: [{ schema: { openAPIV3Schema: { default: { a: null }, example: { a: null }, enum: [{ a: null }], ...more } } }],
    },
  });
  const field = { type: 'object', default: { b: [{ c: null }] } };
  const want = definition({ properties: { default: { type: 'string' }, properties: field }, items: field, allOf: [field] });
  const make = () =>
    definition({
      properties: { default: { type: 'string', pattern: null }, properties: { ...structuredClone(field), title: null } },
      items: structuredClone(field),
      allOf: [structuredClone(field)],
      default: { a: null },
      not: null,
    });
  const draft = make();
  dropNulls(draft);
  expect([draft, withoutNulls(make())]).toEqual([want, want]);
});

test('what a driver says of a device has no type', () => {
  const status = () => ({ devices: [{ driver: 'd', pool: 'p', device: 'x', data: { a: null }, conditions: null }] });
  const draft = status();
  dropNulls(draft);
  expect(draft).toEqual({ devices: [{ driver: 'd', pool: 'p', device: 'x', data: { a: null } }] });
});
