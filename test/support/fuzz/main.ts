// The fuzzers by hand: each target for so many seconds, or until something is found; the input of a finding is printed as base64.
import { parseArgs } from 'node:util';
import { fuzz } from './engine.ts';
import { targets } from './targets.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'call-ms': { type: 'string', default: '250' },
  },
});
let findings = 0;
for (const target of targets.filter(({ name }) => new RegExp(values.only, 'i').test(name))) {
  const until = performance.now() + Number(values.seconds) * 1000;
  const goesOn = (runs: number): boolean => runs % 20 !== 0 || performance.now() < until;
  const { runs, answers, slowestMs, finding } = fuzz(target, {
    seed: Number(values.seed),
    goesOn,
    callMsMax: Number(values['call-ms']),
  });
  console.log(
    `${target.name.padEnd(26)} ${String(runs).padStart(9)} runs  ${String(answers).padStart(4)} answers  slowest ${Math.round(slowestMs)} ms`,
  );
  if (!finding) continue;
  findings++;
  console.log(`  ${finding.problem}\n  input (base64): ${finding.input.toString('base64').slice(0, 2000)}`);
}
console.log(findings === 0 ? 'nothing found' : `${findings} findings (seed ${values.seed})`);
process.exitCode = findings === 0 ? 0 : 1;
