import { expect, test } from 'vitest';
import type { PodTemplateSpec } from '#api/core/v1';
import { holdsTemplate, revisionData } from './history.ts';

test('a revision has the bytes that upstream gives it: keys in their order, at every depth', () => {
  const template: PodTemplateSpec = {
    metadata: { labels: { b: '1', a: '2' } },
    spec: { restartPolicy: 'Always', containers: [{ name: 'c', image: 'i', command: undefined, args: ['z', 'a'] }] },
  };
  expect(JSON.stringify(revisionData(template))).toBe(
    '{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"a":"2","b":"1"}},"spec":{"containers":[{"args":["z","a"],"image":"i","name":"c"}],"restartPolicy":"Always"}}}}',
  );
  const before = JSON.parse(JSON.stringify({ spec: { template: { ...template, $patch: 'replace' } } })) as unknown;
  expect(holdsTemplate({ data: before, revision: 1, metadata: {} }, template)).toBe(true);
});
