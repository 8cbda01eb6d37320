// The examples run as their readers would run them.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { run } from './cluster/harness.ts';

it('examples/test-your-controller.mjs', async () => {
  const path = fileURLToPath(new URL('../../examples/test-your-controller.mjs', import.meta.url));
  const { code, stdout, stderr } = await run(process.execPath, [path]);
  expect(stderr).toBe('');
  expect(stdout).toContain('the controller works');
  expect(code).toBe(0);
});
