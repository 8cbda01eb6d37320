// An unmodified client-go program against a cluster in this process. Needs a Go toolchain; the first run downloads and compiles client-go.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCluster, type TestCluster } from '#testing';

const source = fileURLToPath(new URL('./client-go', import.meta.url));
const hasGo = spawnSync('go', ['version']).status === 0;
const buildTimeoutMs = 600_000;

const run = (
  command: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<{ code: number; text: string }> =>
  new Promise((resolve) => {
    execFile(command, args, { maxBuffer: 16 << 20, ...options }, (error, stdout, stderr) =>
      resolve({ code: error ? 1 : 0, text: stdout + stderr }),
    );
  });

describe.skipIf(!hasGo)('client-go (skipped without a Go toolchain)', () => {
  let dir: string;
  let cluster: TestCluster;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sagong-client-go-'));
    const built = await run('go', ['build', '-o', join(dir, 'program'), '.'], { cwd: source });
    expect(built.code, built.text).toBe(0);
    cluster = await startCluster({ nodes: 2 });
    await writeFile(join(dir, 'kubeconfig'), cluster.kubeconfig, { mode: 0o600 });
  }, buildTimeoutMs);
  afterAll(async () => {
    await cluster?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  it('finds everything as on any Kubernetes', async () => {
    const { code, text } = await run(join(dir, 'program'), [join(dir, 'kubeconfig')]);
    expect(text).not.toContain('FAILED');
    expect(code, text).toBe(0);
    expect(text.match(/^ok /gm)?.length).toBeGreaterThan(30);
  });
});
