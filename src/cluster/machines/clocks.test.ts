import { expect, it } from 'vitest';
import { certificateClockProblem, clocksProblem } from './clocks.ts';

it('names the clock where a certificate is good at another time', () => {
  const say = (code: string): string => certificateClockProblem(code, '10.0.0.1:6443', Date.UTC(2026, 0, 1));
  expect(say('CERT_NOT_YET_VALID')).toContain(
    'by the clock of this machine (2026-01-01T00:00:00.000Z) the certificate of 10.0.0.1:6443 is not valid yet',
  );
  expect(say('CERT_HAS_EXPIRED')).toContain('has expired');
});

it.each([
  [0, 0, 0, undefined],
  [61_000, 0, 61_500, undefined],
  [62_000, 0, 62_500, '61 s ahead of'],
  [1_000, 63_000, 2_000, '61 s behind'],
  // An answer that took its time says less.
  [1_000, 63_000, 5_000, undefined],
])('a clock of %i, theirs of %i, then %i: %s', (before, theirs, after, problem) => {
  const said = clocksProblem(before, theirs, after);
  if (problem === undefined) expect(said).toBeUndefined();
  else expect(said).toContain(`is ${problem} the cluster's, and those of control planes may differ by 60 s`);
});
