// kill -9 in the middle of changes: what was acknowledged is there after the next start, nothing is half there, and nothing is given twice.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Instance } from '#cloud';
import { type CloudClient, createCloudClient, listAll } from '#cloud/client';

const token = 'a-customer-token';
let dataDir = '';
let scripts = '';
let script = '';

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'cloud-crash-'));
  // Bundled into node_modules, from where the packages left outside the bundle can be found.
  await mkdir('node_modules/.cache', { recursive: true });
  scripts = await mkdtemp(resolve('node_modules/.cache/cloud-crash-'));
  script = join(scripts, 'cloud.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'crash-writer.ts')],
    outfile: script,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    conditions: ['sagong-src'],
  });
});
afterAll(async () => {
  await rm(dataDir, { recursive: true, force: true });
  await rm(scripts, { recursive: true, force: true });
});

async function start(): Promise<{ child: ChildProcess; client: CloudClient }> {
  const child = spawn(process.execPath, [script, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<string>((said, failed) => {
    child.stdout?.once('data', (chunk: Buffer) => said(chunk.toString('utf8').trim()));
    child.once('exit', () => failed(new Error('the cloud ended')));
  });
  return { child, client: createCloudClient({ url: `http://127.0.0.1:${port}`, token }) };
}
const ended = (child: ChildProcess): Promise<void> => new Promise((done) => child.once('exit', () => done()));

it('a killed cloud has lost nothing that it said', async () => {
  const acknowledged = new Map<string, Instance>();
  let subnetId = '';
  for (let round = 0; round < 4; round++) {
    const { child, client } = await start();
    if (subnetId === '') {
      const { id: vpcId } = await client.createVpc({ cidr: '10.77.0.0/16' });
      subnetId = (await client.createSubnet({ vpcId, zone: 'local-1a', cidr: '10.77.0.0/16' })).id;
    }
    const there = await listAll((page) => client.listInstances({ ...page }));
    const ids = new Set(there.map(({ id }) => id));
    expect([...acknowledged.keys()].filter((id) => !ids.has(id))).toEqual([]);
    expect(new Set(there.map(({ privateAddress }) => privateAddress)).size).toBe(there.length);
    const gone = ended(child);
    const before = acknowledged.size;
    let writing = true;
    const write = async (worker: number): Promise<void> => {
      for (let index = 0; writing; index++) {
        const made = await client.runInstance({ name: `${round}-${worker}-${index}`, subnetId }).catch(() => undefined);
        if (!made) return;
        acknowledged.set(made.id, made);
        if (acknowledged.size === before + 30) child.kill('SIGKILL');
      }
    };
    await Promise.all([0, 1, 2, 3].map(write));
    writing = false;
    await gone;
    client.close();
  }
  expect(acknowledged.size).toBeGreaterThan(100);
});
