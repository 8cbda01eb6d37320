import { defineConfig } from 'vitest/config';

// One project is one tier (docs/architecture.md, "Tests"). Sources are resolved through the `sagong-src` condition, so tests need no build.
const resolve = { conditions: ['sagong-src'] };
const ssr = { resolve: { conditions: ['sagong-src'], externalConditions: ['sagong-src'] } };
const tier = (name, include, test = {}) => ({ resolve, ssr, test: { name, include, ...test } });
const slow = { testTimeout: 120_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      tier('unit', ['src/**/*.test.ts', 'providers/*/src/**/*.test.ts'], { isolate: false }),
      tier('tidy', ['test/tidy/**/*.test.ts']),
      tier('kinds', ['test/kinds/**/*.test.ts']),
      tier('component', ['test/component/**/*.test.ts'], { testTimeout: 30_000, hookTimeout: 30_000 }),
      tier('simulation', ['test/simulation/**/*.test.ts'], slow),
      tier('interop', ['test/interop/**/*.test.ts'], { ...slow, fileParallelism: false }),
      tier('e2e', ['test/e2e/**/*.test.ts'], { ...slow, fileParallelism: false, maxWorkers: 1 }),
    ],
  },
});
