// Sequences of requests that are drawn from a seed, played on upstream's apiserver and on ours: the same answers, stored objects, owners of fields and events.
// Skipped unless SAGONG_UPSTREAM_BIN names a folder with upstream's programs (build.sh). SAGONG_SEED and SAGONG_SEEDS say which sequences.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { versionOf } from '../etcd-cluster.ts';
import { hasUpstream } from './world.ts';

const script = fileURLToPath(new URL('../side-by-side/sequences.mjs', import.meta.url));
const canRun = hasUpstream('kube-apiserver') && versionOf('etcd') !== undefined;
const seed = process.env['SAGONG_SEED'] ?? '1';
const sequences = process.env['SAGONG_SEEDS'] ?? '10';
const sequenceTimeoutMs = 60_000;

it.skipIf(!canRun)(
  `${sequences} sequences from seed ${seed} end alike on both servers`,
  async () => {
    const args = [script, '--seed', seed, '--sequences', sequences];
    const told = await new Promise<string>((resolve) => {
      execFile(process.execPath, args, { maxBuffer: 64 << 20 }, (_error, stdout, stderr) => resolve(stdout + stderr));
    });
    expect(told).toMatch(/, 0 differ, 0 known ones are not seen\n$/);
  },
  (Number(sequences) + 4) * sequenceTimeoutMs,
);
