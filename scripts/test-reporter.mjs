// A reporter for vitest that tells what a long log must not lose: one line for each file that did not pass, and at the end a report in JSON of what
// was counted, how long each file took, and what failed — tests, files, hooks of a file, and errors that no test was waiting for.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const linesMax = 14;
const charactersMax = 2_000;

/** @typedef {{ file?: string, name: string, message: string }} Failure */

/** The first lines of an error, without the calls inside of the packages that ran the test. */
const said = ({ stack, message }) =>
  (stack ?? message ?? 'no message')
    .split('\n')
    .filter((line) => !line.includes('/node_modules/'))
    .slice(0, linesMax)
    .join('\n')
    .slice(0, charactersMax);
const inTree = (path) => path && relative(process.cwd(), path);

/** @returns {Failure[]} what failed in a file: its tests, and its own errors and those of its hooks, which belong to no test. */
function failuresOf(module) {
  const file = module.relativeModuleId;
  const tests = [...module.children.allTests('failed')].map((test) => ({
    file,
    name: test.fullName,
    message: (test.result().errors ?? []).map(said).join('\n'),
  }));
  const suites = [...module.children.allSuites()].map((suite) => ({ name: suite.fullName, errors: suite.errors() }));
  const around = [{ name: 'the file itself', errors: module.errors() }, ...suites]
    .filter(({ errors }) => errors.length > 0)
    .map(({ name, errors }) => ({ file, name: `${name} (before or after its tests)`, message: errors.map(said).join('\n') }));
  return [...tests, ...around];
}

export default class Report {
  #output;
  #files = 0;

  onInit(vitest) {
    this.#output = process.env.SAGONG_TEST_REPORT;
    this.log = (line) => vitest.logger.log(line);
  }
  onTestModuleEnd(module) {
    this.#files += 1;
    const failed = module.state() === 'failed';
    const took = (module.diagnostic().duration / 1000).toFixed(1);
    if (failed) this.log(`failed: ${module.relativeModuleId} after ${took} s`);
    else if (this.#files % 50 === 0) this.log(`${this.#files} files done`);
  }
  onTestRunEnd(modules, unhandled) {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) for (const test of module.children.allTests()) counts[test.result().state] += 1;
    const failures = [
      ...modules.flatMap(failuresOf),
      ...unhandled.map((error) => ({
        file: inTree(error.VITEST_TEST_PATH),
        name: `an error that no test waited for (${error.VITEST_TEST_NAME ?? 'outside of a test'})`,
        message: said(error),
      })),
    ];
    for (const { file, name, message } of failures) this.log(`\n${file ?? 'somewhere'}: ${name}\n${message}`);
    const files = modules.map((module) => ({ file: module.relativeModuleId, ms: Math.round(module.diagnostic().duration) }));
    if (this.#output) writeFileSync(this.#output, JSON.stringify({ ...counts, failures, files }));
  }
}
