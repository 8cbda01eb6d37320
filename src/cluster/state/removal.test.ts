import { watch } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removeData } from './removal.ts';

it('removes what says that there is a cluster last, and nothing of others', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'sagong-removal-'));
  const gone: string[] = [];
  for (const name of ['pki', 'store', 'nodes']) await mkdir(join(dir, name, 'below'), { recursive: true });
  for (const name of ['cluster.json', 'notes.txt']) await writeFile(join(dir, name), '');
  const watcher = watch(dir, (_event, name) => void gone.push(String(name)));
  try {
    await removeData(dir);
    expect(await readdir(dir)).toEqual(['notes.txt']);
    await expect.poll(() => gone).toContain('cluster.json');
    expect([...new Set(gone)].at(-1)).toBe('cluster.json');
    expect(new Set(gone)).toEqual(new Set(['pki', 'store', 'nodes', 'cluster.json']));
  } finally {
    watcher.close();
    await rm(dir, { recursive: true });
  }
});
