import { expect, test } from 'vitest';
import { dropNulls, withoutNulls } from './values.ts';

const revision = () => ({ metadata: { labels: null }, data: { spec: { creationTimestamp: null } }, revision: 1 });
const kept = { metadata: {}, data: { spec: { creationTimestamp: null } }, revision: 1 };

test('nulls are absent, but in values without a type', () => {
  const draft = revision();
  dropNulls(draft);
  expect(draft).toEqual(kept);
  expect(withoutNulls(revision())).toEqual(kept);
  expect(withoutNulls({ data: null })).toEqual({});
});
