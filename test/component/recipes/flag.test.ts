// docs/contributing.md, "I want to add a flag": a row of the component's table, and the use of its value. This test follows the recipe in a copy of the
// room: the row alone gives reading, checking, the default and the help.
import { expect, test } from 'vitest';
import { defaultsOf, flagHelp, parseFlags } from '#component-base';
import type * as app from '#scheduler';
import { replacing, treeWith } from './tree.ts';

const row = `const misc = {
  namingPods: flag.int({ name: 'naming-pods', default: 3, help: 'How many pods a message names.', section: 'Misc' }),`;
const tree = treeWith('scheduler', {
  'app/flags.ts': replacing('const misc = {', row),
  'app/options.ts': replacing(
    '  return {\n    profiles: config',
    '  return {\n    naming: flags.namingPods,\n    profiles: config',
  ),
});

test('a flag is one row: its value reaches the options, a wrong one is refused, and the help tells it', async () => {
  const { kubeSchedulerFlags, optionsFromFlags } = await tree.load<typeof app>('index.ts');
  const table = kubeSchedulerFlags();
  const options = (...args: string[]) => optionsFromFlags(parseFlags(table, args).values);
  expect(options()).toMatchObject({ naming: 3 });
  expect(options('--naming-pods=7')).toMatchObject({ naming: 7 });
  expect(() => options('--naming-pods=many')).toThrow('invalid argument "many" for "--naming-pods" flag');
  expect(defaultsOf(table)).toMatchObject({ namingPods: 3 });
  expect(flagHelp(table)).toMatch(/--naming-pods int\s+How many pods a message names. \(default 3\)/);
});
