import { expect, it } from 'vitest';
import type { Secret } from '#api/core/v1';
import { silentLogger } from '#utils';
import type { PodRuntime } from '../container/runtime.ts';
import { defaultOptions } from '../options.ts';
import { ManualClock } from '../test-support/manual-clock.ts';
import { ImageCollector } from './collector.ts';
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

it.each([
  ['*', 'a', true],
  ['a*b*c', 'a1b2bc', true],
  ['a*b*c', 'a1b2', false],
  ['?*?', 'a', false],
  ['*a?', 'aaab', true],
  ['**', '', true],
  ['*.*', 'a', false],
])('the pattern %s and the host %s', (pattern, host, expected) => {
  expect(matchesImage(`${pattern}.io:1`, `${host}.io:1/app`)).toBe(expected);
});

it('a pattern of many stars is answered, whoever made it', () => {
  expect(matchesImage(`${'*a'.repeat(500)}b.io`, `${'a'.repeat(2_000)}.io/app`)).toBe(false);
  expect(matchesImage(`x${'/'.repeat(1_000_000)}y`, 'x.io/app')).toBe(false);
});

it('entries of a secret that are none are left out', () => {
  const text = JSON.stringify({ auths: { 'a.io': null, 'a.io/app': 5, 'a.io/app/b': { username: 'u', password: 'p' } } });
  const secret = { metadata: {}, type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': btoa(text) } };
  expect(credentialsFor('a.io/app/b:1', [secret])).toMatchObject([{ username: 'u', password: 'p' }]);
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

it('says of a full disk what it could not free, tries every image, and tells of the node when it fails again', async () => {
  const clock = new ManualClock();
  const there = new Set(['a', 'stuck', 'b']);
  const images = {
    list: () => Promise.resolve([...there].map((id) => ({ id, repoTags: [`${id}:1`], repoDigests: [], sizeBytes: 100 }))),
    remove(id: string) {
      if (id === 'stuck') return Promise.reject(new Error('in use'));
      there.delete(id);
      return Promise.resolve();
    },
  };
  const runtime = { list: () => Promise.resolve([]), images } as unknown as PodRuntime;
  const said: string[] = [];
  const collector = new ImageCollector({
    options: defaultOptions('n'),
    runtime,
    clock,
    logger: silentLogger,
    disk: () => Promise.resolve({ available: 500, capacity: 10_000 }),
    warn: (reason, message) => said.push(`${reason}: ${message}`),
  });
  const short = (freed: number): string =>
    `Failed to garbage collect required amount of images. Attempted to free 1500 bytes, but only found ${freed} bytes eligible to free.`;
  // What is new is not removed.
  await expect(collector.collect()).rejects.toThrow(short(0));
  expect(said).toEqual([`FreeDiskSpaceFailed: ${short(0)}`]);
  await clock.advance(300_000);
  const stuck = 'wanted to free 1500 bytes, but freed 200 bytes space with errors in image deletion: [in use]';
  await expect(collector.collect()).rejects.toThrow(stuck);
  expect([...there]).toEqual(['stuck']);
  expect(said[1]).toBe(`ImageGCFailed: ${stuck}`);
});
