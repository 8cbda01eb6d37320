// `--concurrent-*-syncs`: how many keys of a loop are in work at once. Each loop names its flag and its default itself.
import { type Flag, flag } from '#component-base';
import { createControllers, defaultControllersConfig } from '#controllers';

interface Bounded {
  loop: string;
  name: string;
  usual: number;
}

const bounded = (): Bounded[] =>
  createControllers(defaultControllersConfig)
    .flatMap(({ name, concurrency }) =>
      typeof concurrency === 'object' ? [{ loop: name, name: concurrency.flag, usual: concurrency.default }] : [],
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1));

export const concurrencyFlags = (): Readonly<Record<never, Flag<number>>> =>
  Object.fromEntries(
    bounded().map(({ loop, name, usual }) => [
      name,
      flag.int({ name, default: usual, help: `Keys of ${loop} in work at once.`, section: 'Concurrency' }),
    ]),
  );

/** How many keys each loop works on at once, by the loop's name. Throws for a number below 1. */
export function concurrencyOf(flags: object): Readonly<Record<string, number>> {
  return Object.fromEntries(
    bounded().map(({ loop, name }) => {
      const count = (flags as Record<string, number>)[name] as number;
      if (count < 1) throw new Error(`${name} must be greater than 0, but got ${count}`);
      return [loop, count];
    }),
  );
}
