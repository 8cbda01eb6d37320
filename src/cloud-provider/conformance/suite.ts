// The list of cases, and how a test runner gets them. Knows no runner: `describe` and `it` are given, or each case is run by hand.
import { instanceChecks } from './instances.ts';
import { balancerChangeChecks } from './balancer-changes.ts';
import { loadBalancerChecks } from './load-balancers.ts';
import { routeChecks } from './routes.ts';
import type { ConformanceCase, ConformanceTarget, ConformanceWorld } from './target.ts';

/** The cases of the suite, by their names. */
export type Checks = Readonly<Record<string, (world: ConformanceWorld, options: { instancesMany: number }) => Promise<void>>>;

const instancesManyDefault = 2_000;

/** What a runner must be able to do; vitest, jest, mocha and node:test can. */
export interface Runner {
  describe(name: string, body: () => void): unknown;
  it: {
    (name: string, body: () => Promise<void>): unknown;
    skip(name: string, body: () => Promise<void>): unknown;
  };
}

/** Why a case does not run: by its own name, or by that of its group, which is what stands before the colon. */
const reasonOf = (skips: Readonly<Record<string, string>>, name: string): string | undefined =>
  skips[name] ?? skips[name.slice(0, name.indexOf(':'))];

/** All cases for this target. Throws for a skip that names none. */
export function conformanceCases({
  open,
  skips = {},
  instancesMany = instancesManyDefault,
}: ConformanceTarget): ConformanceCase[] {
  const checks: Checks = { ...instanceChecks, ...loadBalancerChecks, ...balancerChangeChecks, ...routeChecks };
  for (const name of Object.keys(skips))
    if (!Object.keys(checks).some((known) => reasonOf({ [name]: '' }, known) !== undefined))
      throw new Error(`no conformance case is called ${JSON.stringify(name)}`);
  return Object.entries(checks).map(([name, check]) => {
    const skipped = reasonOf(skips, name);
    return {
      name,
      ...(skipped !== undefined && { skipped }),
      async run() {
        const world = await open();
        try {
          await check(world, { instancesMany });
        } finally {
          await world.close?.();
        }
      },
    };
  });
}

/** Registers all cases with a test runner. A skipped one says why in its name. */
export function conformance(target: ConformanceTarget, { describe, it }: Runner): void {
  describe('cloud provider conformance', () => {
    for (const { name, skipped, run } of conformanceCases(target))
      if (skipped === undefined) it(name, run);
      else it.skip(`${name} (skipped: ${skipped})`, run);
  });
}
