// What changed in an immutable part reads as upstream's: unified hunks of the internal types' JSON.
import { describe, expect, test } from 'vitest';
import { internalForm } from './internal-form.ts';
import { internalDiff, unifiedDiff } from './unified-diff.ts';

const lines = (text: string): string[] => text.split('').map((letter) => `${letter}\n`);

describe('unified hunks', () => {
  test.each([
    ['abc', 'abc', ''],
    ['abc', 'axc', '@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n'],
    ['abc', 'ac', '@@ -1,3 +1,2 @@\n a\n-b\n c\n'],
    ['', 'ab', '@@ -0,0 +1,2 @@\n+a\n+b\n'],
    ['a', 'b', '@@ -1 +1 @@\n-a\n+b\n'],
    ['0123456789abcdef', 'x123456789abcdey', '@@ -1,4 +1,4 @@\n-0\n+x\n 1\n 2\n 3\n@@ -13,4 +13,4 @@\n c\n d\n e\n-f\n+y\n'],
    // The longest run matches first, not the first one.
    ['ab', 'acab', '@@ -1,2 +1,4 @@\n+a\n+c\n a\n b\n'],
  ])('%j to %j', (from, to, wanted) => {
    expect(unifiedDiff(lines(from), lines(to))).toBe(wanted);
  });

  test('a text too long for the whole search', () => {
    const long = Array.from({ length: 20_000 }, (_, index) => `${index % 7}\n`);
    const changed = [...long];
    changed[10_000] = 'x\n';
    expect(unifiedDiff(long, changed)).toBe(`@@ -9998,7 +9998,7 @@\n 1\n 2\n 3\n-${long[10_000]}+x\n 5\n 6\n 0\n`);
  });
});

test('a claim by its Go names', () => {
  const claim = (storage: string) => ({
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage } },
    volumeMode: 'Block',
  });
  expect(internalDiff('core.PersistentVolumeClaimSpec', claim('1Gi'), claim('2Gi'))).toBe(
    '@@ -6,7 +6,7 @@\n  "Resources": {\n   "Limits": null,\n   "Requests": {\n-   "storage": "1Gi"\n+   "storage": "2Gi"\n   }\n  },\n  "VolumeName": "",\n',
  );
});

test.each([
  ['core.Volume', { name: 'v', emptyDir: {} }, { Name: 'v', EmptyDir: { Medium: '', SizeLimit: null }, HostPath: null }],
  [
    'core.PodSpec',
    { hostNetwork: true },
    { SecurityContext: { HostNetwork: true, HostPID: false, HostUsers: null }, Containers: null },
  ],
  [
    'core.PodTemplateSpec',
    { metadata: { labels: { a: 'b' } } },
    { labels: { a: 'b' }, Spec: { RestartPolicy: '', NodeSelector: null } },
  ],
  ['resource.DeviceAttribute', { int: 1 }, { IntValue: 1, BoolValue: null, IntValues: null }],
  ['core.ObjectReference', { uid: 'u', apiVersion: 'v1' }, { UID: 'u', APIVersion: 'v1', Kind: '' }],
])('%s', (type, value, wanted) => {
  expect(internalForm(type, value)).toMatchObject(wanted);
});
