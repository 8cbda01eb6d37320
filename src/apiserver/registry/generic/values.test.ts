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
