// What is seen of a process that dies of a bug: the reason, the stack, and an exit code that is not zero.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-fatal-'));
  await build({
    entryPoints: [fileURLToPath(new URL('../../../src/cmd/process/fail.ts', import.meta.url))],
    outfile: join(dir, 'fail.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['sagong-src'],
  });
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Runs a program that has `fail.ts` at hand. */
async function run(body: string): Promise<{ code: number | string; stderr: string }> {
  const path = join(dir, 'program.mjs');
  await writeFile(path, `import { fail, failOnUnhandled, onFatal } from './fail.mjs';\nfailOnUnhandled();\n${body}\n`);
  return new Promise((resolve) =>
    execFile(process.execPath, [path, 'kube-apiserver'], (error, _stdout, stderr) => resolve({ code: error?.code ?? 0, stderr })),
  );
}

it.each([
  ['uncaught exception', `setImmediate(function later() { throw new Error('boom'); });`],
  ['unhandled rejection', `void (async function later() { throw new Error('boom'); })();`],
])('says of an %s what and where', async (what, body) => {
  const { code, stderr } = await run(`${body}\nsetTimeout(() => {}, 10_000);`);
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^sagong: kube-apiserver ends: ${what}: boom\nError: boom\n +at .*later`));
});

it('tells listeners too, whatever they do', async () => {
  const { stderr } = await run(`onFatal(() => { throw new Error('worse'); });
    onFatal((text) => process.stderr.write('heard ' + text.split('\\n')[0]));
    setImmediate(() => { throw 'no error at all'; });`);
  expect(stderr).toMatch(/^sagong: kube-apiserver ends: uncaught exception: no error at all\nheard sagong: kube-apiserver ends/);
});

it('a refusal is one line', async () => {
  expect(await run(`fail(new Error('no such file'));`)).toEqual({ code: 1, stderr: 'sagong: no such file\n' });
});

it('lives on when nobody reads its output any more', async () => {
  const path = join(dir, 'talker.mjs');
  const talk = `let said = 0; const timer = setInterval(() => { process.stdout.write('x\\n'); if (++said === 20) { clearInterval(timer); process.exitCode = 7; } }, 5);`;
  await writeFile(path, `import { failOnUnhandled } from './fail.mjs';\nfailOnUnhandled();\n${talk}`);
  const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.once('data', () => child.stdout.destroy());
  expect(await once(child, 'exit')).toEqual([7, null]);
});
