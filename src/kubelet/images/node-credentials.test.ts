import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { credentialsFor } from './credentials.ts';
import { nodeCredentials } from './node-credentials.ts';

let base: string;
let root: string;
let home: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'sagong-credentials-'));
  [root, home] = [join(base, 'kubelet'), join(base, 'home')];
  for (const folder of [root, join(home, '.docker')]) await mkdir(folder, { recursive: true });
});
afterEach(() => rm(base, { recursive: true }));

const file = (user: string): string => JSON.stringify({ auths: { 'r.example.com': { auth: btoa(`${user}:secret`) } } });
const user = async (): Promise<unknown> => {
  const [first] = credentialsFor('r.example.com/app:1', [], await nodeCredentials(root, home));
  return first?.username;
};

it('finds what is there for all pods of a node, in the order of upstream', async () => {
  expect(await user()).toBe(undefined);
  await writeFile(join(home, '.dockercfg'), JSON.stringify({ 'r.example.com': { username: 'oldest', password: 'secret' } }));
  expect(await user()).toBe('oldest');
  await writeFile(join(home, '.docker/config.json'), file('home'));
  expect(await user()).toBe('home');
  await writeFile(join(root, 'config.json'), file('root'));
  expect(await user()).toBe('root');
  await writeFile(join(root, 'config.json'), '{');
  expect(await user()).toBe('home');
});

it.skipIf(process.platform === 'win32')('does not wait for a pipe, nor read what has no end', async () => {
  await writeFile(join(home, '.docker/config.json'), file('home'));
  execFileSync('mkfifo', [join(root, 'config.json')]);
  expect(await user()).toBe('home');
  await rm(join(root, 'config.json'));
  await writeFile(join(root, 'config.json'), Buffer.alloc(2 << 20, ' '));
  expect(await user()).toBe('home');
});

it('comes after the pull secrets of a pod', () => {
  const text = JSON.stringify({ auths: { 'r.example.com': { username: 'pod', password: 'secret' } } });
  const secret = { metadata: {}, type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': btoa(text) } };
  const found = credentialsFor('r.example.com/app', [secret], [['r.example.com/app', { username: 'node', password: 'secret' }]]);
  expect(found.map(({ username }) => username)).toEqual(['pod', 'node']);
});
