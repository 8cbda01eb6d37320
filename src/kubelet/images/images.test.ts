import { expect, it } from 'vitest';
import type { Secret } from '#api/core/v1';
import { credentialsFor, matchesImage } from './credentials.ts';
import { imagesToRemove } from './garbage.ts';
import { withDefaultTag } from './reference.ts';

it('adds the default tag, and refuses what is no image', () => {
  expect(withDefaultTag('nginx')).toBe('nginx:latest');
  expect(withDefaultTag('localhost:5000/a/b')).toBe('localhost:5000/a/b:latest');
  expect(withDefaultTag(`a@sha256:${'0'.repeat(64)}`)).not.toContain('latest');
  expect(() => withDefaultTag('Bad Image')).toThrow('invalid reference format');
});

it.each([
  ['https://index.docker.io/v1/', 'nginx:1', true],
  ['quay.io', 'quay.io/a/b', true],
  ['quay.io/a', 'quay.io/ab/c', false],
  ['*.example.com', 'eu.example.com/x', true],
  ['*.example.com', 'a.eu.example.com/x', false],
  ['localhost:5000', 'localhost:5000/x', true],
  ['gcr.io', 'nginx', false],
])('key %s for image %s', (key, image, expected) => {
  expect(matchesImage(key, image)).toBe(expected);
});

it('reads user and password of a pull secret', () => {
  const config = { auths: { 'quay.io': { auth: btoa('me:pass:word') } } };
  const secret: Secret = {
    metadata: {},
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': btoa(JSON.stringify(config)) },
  };
  expect(credentialsFor('quay.io/x', [secret])).toEqual([
    { username: 'me', password: 'pass:word', identityToken: undefined, registryToken: undefined },
  ]);
  expect(credentialsFor('quay.io/x', [{ ...secret, data: { '.dockerconfigjson': btoa('{') } }])).toEqual([]);
});

it('collects the longest unused images and spares what is used, pinned, new or needed for pods', () => {
  const image = (id: string, more = {}) => ({ id, repoTags: [`${id}:1`], repoDigests: [], sizeBytes: 100, ...more });
  const images = [image('a'), image('b'), image('used'), image('pinned', { pinned: true }), image('pause'), image('new')];
  const uses = new Map(
    images.map(({ id }, index) => [id, { firstSeenAtMs: id === 'new' ? 990 : 0, lastUsedAtMs: id === 'b' ? 1 : 100 + index }]),
  );
  const remove = (bytesToFree: number): string[] =>
    imagesToRemove({ images, uses, inUse: new Set(['used']), spared: ['pause:1'], bytesToFree, now: 1000, ageMsMin: 100 }).map(
      ({ id }) => id,
    );
  expect(remove(1)).toEqual(['b']);
  expect(remove(10_000)).toEqual(['b', 'a']);
});
