// The examples run as their readers would run them.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { run } from './cluster/harness.ts';

it.each([
  ['test-your-controller.mjs', 'the controller works'],
  ['test-autoscaling.mjs', 'the autoscaler works: eight pods after 30 s'],
])('examples/%s', async (name, said) => {
  const path = fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
  const { code, stdout, stderr } = await run(process.execPath, [path]);
  expect(stderr).toBe('');
  expect(stdout).toContain(said);
  expect(code).toBe(0);
});
