// What came of the specs: counts per SIG, the failures, and the files that the conformance programme of the CNCF asks for
// (github.com/cncf/k8s-conformance, instructions.md).
import { mkdir, readFile, writeFile, copyFile } from 'node:fs/promises';
import { join } from 'node:path';

const states = { passed: 'passed', skipped: 'skipped', pending: 'skipped' };

/** The specs of a report of ginkgo's that were chosen: name, SIG, state (passed, failed, skipped), seconds, and why it failed. */
export function specsOf(report) {
  return report
    .flatMap(({ SpecReports }) => SpecReports ?? [])
    .filter(({ LeafNodeType, State, RunTime }) => LeafNodeType === 'It' && !(states[State] === 'skipped' && RunTime === 0))
    .map(({ ContainerHierarchyTexts, LeafNodeText, State, RunTime, Failure }) => {
      const name = [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' ');
      return {
        name,
        sig: /\[(sig-[a-z-]+)\]/.exec(name)?.[1] ?? 'none',
        state: states[State] ?? 'failed',
        seconds: RunTime / 1e9,
        message: Failure?.Message ?? '',
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const count = (specs, state) => specs.filter((spec) => spec.state === state).length;

/** "N passed, N failed, N skipped" */
export const summary = (specs) =>
  ['passed', 'failed', 'skipped'].map((state) => `${count(specs, state)} ${state}`).join(', ');

/** A Markdown table with a line for each SIG. */
export function table(specs) {
  const sigs = [...new Set(specs.map(({ sig }) => sig))].sort();
  const line = (name, of) => `| ${name} | ${of.length} | ${['passed', 'failed', 'skipped'].map((state) => count(of, state)).join(' | ')} |`;
  return [
    '| SIG | specs | passed | failed | skipped |',
    '|---|---|---|---|---|',
    ...sigs.map((sig) => line(sig, specs.filter((spec) => spec.sig === sig))),
    line('**all**', specs),
  ].join('\n');
}

const xml = (text) =>
  text.replace(/[<>&"]/g, (char) => `&#${char.charCodeAt(0)};`).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/g, '');

/** The specs in JUnit's form. */
export function junit(specs) {
  const cases = specs.map(({ name, sig, state, seconds, message }) => {
    const inner = { failed: `<failure type="failed">${xml(message)}</failure>`, skipped: '<skipped/>', passed: '' }[state];
    return `    <testcase name="${xml(name)}" classname="${sig}" time="${seconds.toFixed(3)}">${inner}</testcase>`;
  });
  const time = specs.reduce((sum, spec) => sum + spec.seconds, 0).toFixed(3);
  const counts = `tests="${specs.length}" failures="${count(specs, 'failed')}" skipped="${count(specs, 'skipped')}" time="${time}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n  <testsuite name="Kubernetes e2e suite" ${counts}>\n${cases.join('\n')}\n  </testsuite>\n</testsuites>\n`;
}

const product = (version) => `vendor: Sagong
name: Sagong
version: v${version}
type: distribution
description: A complete Kubernetes in TypeScript
`;

const readme = (kubernetes) => `# To repeat these results

On Debian 12, as root, with Node 20 and Go:

    npm ci
    npm run conformance

This builds the end-to-end suite of Kubernetes ${kubernetes}, makes the images of its specs, starts a cluster of two nodes
(\`sagong up --nodes 2\`), runs all specs that are labelled Conformance, and writes this folder.
`;

/** Reads the report and writes what there is to hand on into `results`. Resolves with the specs. */
export async function writeResults({ report, results, version, sagongVersion, whole }) {
  const specs = specsOf(JSON.parse(await readFile(report, 'utf8')));
  await writeFile(join(results, 'junit_01.xml'), junit(specs));
  await writeFile(join(results, 'table.md'), `${table(specs)}\n`);
  if (!whole) return specs;
  const folder = join(results, version.split('.').slice(0, 2).join('.'), 'sagong');
  await mkdir(folder, { recursive: true });
  for (const name of ['junit_01.xml', 'e2e.log']) await copyFile(join(results, name), join(folder, name));
  await writeFile(join(folder, 'PRODUCT.yaml'), product(sagongVersion));
  await writeFile(join(folder, 'README.md'), readme(version));
  return specs;
}
