import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';
import { join as joinMachine } from './join.ts';

const deps = { clock: systemClock(), rng: systemRng(), logger: silentLogger };
const way = { endpoint: '192.0.2.1:6443', token: 'abcdef.0123456789abcdef', program: [] };

it('refuses a folder whose path is too long for the sockets in it before it asks anybody', async () => {
  const joining = joinMachine({ ...way, dir: `/${'d'.repeat(90)}` }, deps);
  await expect(joining).rejects.toThrow('20 bytes too long for the sockets in it; choose a shorter directory with --data-dir');
});

it('refuses the folder of a cluster, whose authorities are in it', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'join-'));
  try {
    await writeFile(join(dir, 'cluster.json'), JSON.stringify({ name: 'a', port: 6443, nodes: [] }));
    await expect(joinMachine({ ...way, dir }, deps)).rejects.toThrow(`there is a cluster in ${dir}`);
  } finally {
    await rm(dir, { recursive: true });
  }
});
