// A project in the shape of kubebuilder's, with webhooks and a controller, on what `sagong envtest-assets` writes: controller-runtime's own envtest
// starts the programs, probes them and ends them. Needs a Go toolchain; the first run downloads and compiles controller-runtime.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const source = fileURLToPath(new URL('./envtest', import.meta.url));
const sagong = fileURLToPath(new URL('../../bin/sagong.mjs', import.meta.url));
const hasGo = spawnSync('go', ['version']).status === 0;
const buildTimeoutMs = 900_000;
const runTimeoutMs = 180_000;

const run = (command: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<{ code: number; text: string }> =>
  new Promise((resolve) => {
    execFile(command, args, { maxBuffer: 16 << 20, cwd: source, env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error ? 1 : 0, text: stdout + stderr }),
    );
  });

describe.skipIf(!hasGo)('envtest of controller-runtime (skipped without a Go toolchain)', () => {
  let dir: string;
  let assets: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sagong-envtest-'));
    const vetted = await run('go', ['test', '-run', 'none', './...']);
    expect(vetted.code, vetted.text).toBe(0);
    const written = await run(sagong, ['envtest-assets', dir]);
    expect(written.code, written.text).toBe(0);
    assets = written.text.trim();
  }, buildTimeoutMs);
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it(
    'passes the tests of its webhooks and its controller, as `make test` runs them',
    async () => {
      const { code, text } = await run('go', ['test', '-count=1', '-v', './...'], { KUBEBUILDER_ASSETS: assets });
      expect(code, text).toBe(0);
      for (const passed of [
        'TestWebhooks/the_defaulter_fills_what_is_open',
        'TestWebhooks/the_validator_denies',
        'TestReconciler',
      ])
        expect(text).toContain(`--- PASS: ${passed}`);
    },
    runTimeoutMs,
  );
});
