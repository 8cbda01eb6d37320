import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { builtFiles, builtModules } from './test/support/built-modules.mjs';

// One project is one tier (docs/architecture.md, "Tests"). Sources are resolved through the `sagong-src` condition, so tests need no build; what was
// built is loaded where scripts/test.mjs has found that it is of these sources.
const built = process.env.SAGONG_TEST_BUILT === '1';
const conditions = ['sagong-src'];
const alias = { 'fast-check': fileURLToPath(new URL('./test/support/fast-check.ts', import.meta.url)) };
const shared = built
  ? { resolve: { alias }, plugins: [builtModules] }
  : { resolve: { conditions, alias }, ssr: { resolve: { conditions, externalConditions: conditions } } };
const server = built ? { deps: { external: [builtFiles] } } : {};
// What is polled for comes when the machine has time for it; vitest's own patience is a second.
const expect = { poll: { timeout: 20_000 } };
const tier = (name, include, test = {}) => ({ ...shared, test: { name, include, expect, server, ...test } });
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
