import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// One project is one tier (docs/architecture.md, "Tests"). Sources are resolved through the `sagong-src` condition, so tests need no build.
const resolve = {
  conditions: ['sagong-src'],
  alias: { 'fast-check': fileURLToPath(new URL('./test/support/fast-check.ts', import.meta.url)) },
};
const ssr = { resolve: { conditions: ['sagong-src'], externalConditions: ['sagong-src'] } };
// What is polled for comes when the machine has time for it; vitest's own patience is a second.
const expect = { poll: { timeout: 20_000 } };
const tier = (name, include, test = {}) => ({ resolve, ssr, test: { name, include, expect, ...test } });
const slow = { testTimeout: 120_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      tier('unit', ['src/**/*.test.ts', 'providers/*/src/**/*.test.ts'], { isolate: false, testTimeout: 30_000 }),
      tier('tidy', ['test/tidy/**/*.test.ts'], { testTimeout: 30_000 }),
      tier('kinds', ['test/kinds/**/*.test.ts'], { testTimeout: 30_000 }),
      // Its files share what they load: each alone would spend more time on loading than on testing.
      tier('component', ['test/component/**/*.test.ts'], { isolate: false, testTimeout: 60_000, hookTimeout: 60_000 }),
      tier('simulation', ['test/simulation/**/*.test.ts'], slow),
      tier('interop', ['test/interop/**/*.test.ts'], { ...slow, fileParallelism: false }),
      tier('e2e', ['test/e2e/**/*.test.ts'], { ...slow, maxWorkers: 2 }),
    ],
  },
});
