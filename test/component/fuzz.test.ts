// Every reader of what others write, over changed inputs for a moment: none throws what it does not mean to, none takes long, and what is
// written again reads the same. `node scripts/fuzz.mjs` does it for as long as one likes.
import { expect, test } from 'vitest';
import { fuzz } from '../support/fuzz/engine.ts';
import { targets } from '../support/fuzz/targets.ts';

const runs = 150;
/** Of CPU; ten times what was ever seen, as the machine may be busy. */
const callMsMax = 2_000;

test.each(targets.map((target) => [target.name, target] as const))('%s', (_, target) => {
  const { finding } = fuzz(target, { seed: 42, goesOn: (done) => done < runs, callMsMax });
  expect(finding && `${finding.problem} for ${finding.input.toString('base64')}`).toBeUndefined();
});
