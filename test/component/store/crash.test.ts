// kill -9 in the middle of writing: whatever was acknowledged is there after reopening, and no revision is missing or half there.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmbeddedStore } from '#store';
import { LockedError, openDiskStore } from '#store';

let directory = '';
let script = '';
let scriptDirectory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'store-crash-'));
  // Bundled into node_modules, from where the packages left outside the bundle can be found.
  await mkdir('node_modules/.cache', { recursive: true });
  scriptDirectory = await mkdtemp(resolve('node_modules/.cache/store-crash-'));
  script = join(scriptDirectory, 'writer.mjs');
  const entry = join(import.meta.dirname, 'crash-writer.ts');
  const shared = {
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    conditions: ['sagong-src'],
  } satisfies BuildOptions;
  await build({ ...shared, entryPoints: [entry], outfile: script });
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await rm(scriptDirectory, { recursive: true, force: true });
});

interface Ending {
  /** Acknowledged keys by revision. */
  acknowledged: Map<number, string[]>;
  signal: NodeJS.Signals | null;
  errors: string;
}

/** Runs the writer to its end; `onAcknowledged` hears how many writes it has acknowledged so far. */
function runWriter(
  command: string,
  args: string[],
  onAcknowledged: (writes: number, child: ChildProcess) => void,
): Promise<Ending> {
  return new Promise((done, failed) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    let lines = 0;
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      for (const byte of chunk) if (byte === 10) lines++;
      onAcknowledged(lines - 1, child);
    });
    child.once('error', failed);
    child.once('close', (_, signal) => {
      const whole = output.slice(0, output.lastIndexOf('\n')).split('\n').slice(1);
      const acknowledged = new Map(whole.map((line) => [Number.parseInt(line, 10), line.split(' ').slice(1)]));
      done({ acknowledged, signal, errors });
    });
  });
}

/** Runs the writer until it has acknowledged `writesMin` writes, then kills it. */
async function writeUntilKilled(
  path: string,
  run: string,
  writesMin: number,
  whileRunning: () => Promise<void>,
): Promise<Map<number, string[]>> {
  let running: Promise<void> | undefined;
  const { acknowledged, signal, errors } = await runWriter(process.execPath, [script, path, run], (writes, child) => {
    if (writes >= writesMin) running ??= whileRunning().finally(() => child.kill('SIGKILL'));
  });
  await running;
  expect(signal, errors).toBe('SIGKILL');
  return acknowledged;
}

async function keysByRevision(store: EmbeddedStore): Promise<Map<number, string[]>> {
  const found = new Map<number, string[]>();
  for (const { key, modRevision } of store.rangeSync({ key: '\0', rangeEnd: '\0' }).kvs) {
    found.set(modRevision, [...(found.get(modRevision) ?? []), key]);
  }
  return found;
}

test('no acknowledged write is lost and no revision is torn', async () => {
  const path = join(directory, 'store');
  const acknowledged = new Map<number, string[]>();
  for (const [round, lines] of [300, 1500, 40, 900].entries()) {
    const written = await writeUntilKilled(path, `run${round}`, lines, async () => {
      await expect(openDiskStore({ path })).rejects.toBeInstanceOf(LockedError);
    });
    for (const [revision, keys] of written) {
      expect(acknowledged.has(revision), `revision ${revision} given twice`).toBe(false);
      acknowledged.set(revision, keys);
    }
    const store = await openDiskStore({ path });
    const found = await keysByRevision(store);
    for (const [revision, keys] of acknowledged) expect(found.get(revision)?.sort(), `revision ${revision}`).toEqual(keys.sort());
    expect([...found.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: store.revision() - 1 }, (_, i) => i + 2));
    expect([...found.values()].every((keys) => keys.length === 2)).toBe(true);
    await store.close();
  }
  expect(acknowledged.size).toBeGreaterThan(2500);
});
