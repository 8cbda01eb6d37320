import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientConfigOf, readKubeconfig, writeKubeconfig } from './kubeconfig.ts';
import { kubeconfigFor } from './kubeconfig-entries.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
});
afterAll(() => rm(dir, { recursive: true }));

test.each(['no', 'on', '1e3', 'null', '0x10', '1_0'])('a cluster called %s is one for kubectl, too', async (name) => {
  const path = join(dir, name);
  await writeKubeconfig(path, kubeconfigFor(name, { server: 'https://127.0.0.1:1' }));
  const text = await readFile(path, 'utf8');
  expect(text).toContain(`current-context: "${name}"\n`);
  expect(text.split(`"${name}"`)).toHaveLength(7);
  expect(clientConfigOf(readKubeconfig(path), name).server).toBe('https://127.0.0.1:1');
});

test('what others wrote keeps its meaning', async () => {
  const path = join(dir, 'theirs');
  await writeFile(path, 'clusters: [{name: a, cluster: {server: "https://a", insecure-skip-tls-verify: yes}}]\n');
  await writeKubeconfig(path, readKubeconfig(path));
  expect(await readFile(path, 'utf8')).toContain('insecure-skip-tls-verify: true\n');
});
