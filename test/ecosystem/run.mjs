#!/usr/bin/env node
// Runs software that others wrote, unmodified and pinned, against a cluster of Sagong, and writes down what came of it. Opt-in: everything comes
// from package registries (Go modules, npm, PyPI, Maven Central) and takes minutes. `npm run build` first; README.md beside this file tells how a tool is added.
//
//   node test/ecosystem/run.mjs [TOOL...] [--what TEXT]        all, or those folders of test/ecosystem; with --what those rows whose text or version holds TEXT
//   node test/ecosystem/run.mjs --page                         runs nothing, makes docs/compatibility.md again
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { clusters, root, sagong } from './lib/clusters.mjs';
import { endLeft, markStarted } from './lib/left.mjs';
import { page, store, stored } from './lib/page.mjs';
import { background, eventually, execute, goCopy, goModule, goProgram, must } from './lib/programs.mjs';

const here = dirname(fileURLToPath(import.meta.url));

const has = (program) => spawnSync('which', [program]).status === 0;

/** Why a tool cannot run on this machine, if so. */
function lacks({ needs, cluster, runs }) {
  const missing = needs.filter((program) => !has(program));
  if (missing.length > 0) return `needs ${missing.join(', ')}`;
  const real = [cluster, ...runs.map((run) => run.cluster)].some((kind) => ['containers', 'machines'].includes(kind));
  if (real && process.getuid() !== 0) return 'needs root, for nodes with real containers';
  return undefined;
}

const failure = (error) => ({ result: 'fails', differs: String(error.message ?? error).split('\n').slice(0, 3).join(' ').slice(0, 400), log: error.message });

/** The rows of a tool: those that `chosen` names anew, the others as they were; none when it was interrupted. `keep` is told all rows after each that has run. */
async function runTool(tool, context, before, chosen, keep) {
  const knownOf = ({ what, version }) => before.find((one) => one.what === what && one.version === version);
  const runs = [];
  for (const [index, { what, version, run, cluster: kind = tool.cluster }] of tool.runs.entries()) {
    const known = knownOf({ what, version });
    if (!chosen(`${what} ${version}`)) {
      if (known) runs.push(known);
      continue;
    }
    const cluster = await context.clusterOf(kind);
    const started = Date.now();
    markStarted(context.work);
    const { log, ...kept } = await run({ ...context, ...cluster, known, rows: runs }).catch(failure);
    // What an interruption broke off did not fail.
    if (context.interrupted()) return undefined;
    const seconds = Math.round((Date.now() - started) / 1000);
    runs.push({ what, version, ...kept, day: new Date().toISOString().slice(0, 10) });
    keep([...runs, ...tool.runs.slice(index + 1).map(knownOf).filter(Boolean)]);
    console.log(`${kept.result.padEnd(8)} ${tool.name}: ${what} ${version} (${seconds} s)${kept.differs ? `: ${kept.differs}` : ''}${log ? `\n${log}` : ''}`);
    await context.stopAll();
    await endLeft();
  }
  return runs;
}

async function main() {
  const { positionals: wanted, values } = parseArgs({ options: { what: { type: 'string' }, page: { type: 'boolean' } }, allowPositionals: true });
  const folders = readdirSync(here)
    .filter((name) => existsSync(join(here, name, 'tool.mjs')))
    .sort();
  const writePage = () => writeFileSync(join(root, 'docs/compatibility.md'), page(here, folders));
  if (values.page) return writePage();
  const unknown = wanted.filter((name) => !folders.includes(name));
  if (unknown.length > 0) throw new Error(`no such tool: ${unknown.join(', ')}`);
  // Sockets of nodes are in it, whose paths may not be long.
  const work = mkdtempSync(join(tmpdir(), 'sagong-eco-'));
  const cache = process.env.SAGONG_ECOSYSTEM_CACHE ?? join(tmpdir(), 'sagong-ecosystem-cache');
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(work, 'go.mod'), 'module work\n\ngo 1.24\n');
  const made = clusters(work);
  const { start, stopAll } = background(work);
  let ended;
  // A signal and the end of a run that it breaks off come at the same time: the folder goes once the clusters in it have gone.
  const end = () => (ended ??= undo());
  const undo = async () => {
    await stopAll();
    await endLeft();
    await made.endAll();
    rmSync(work, { recursive: true, force: true });
  };
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => {
      interrupted = true;
      void end().finally(() => process.exit(1));
    });
  const tools = {
    ...{ work, cache, sagong, execute, must, eventually, start, stopAll },
    interrupted: () => interrupted,
    goModule: (module) => goModule(work, module),
    goCopy: (module) => goCopy(work, cache, module),
    goProgram: (program) => goProgram(work, cache, program),
    clusterOf: (kind = 'simulated') => (kind === 'none' ? {} : made.get(kind)),
  };
  try {
    for (const folder of folders.filter((name) => wanted.length === 0 || wanted.includes(name))) {
      const tool = (await import(pathToFileURL(join(here, folder, 'tool.mjs')).href)).default;
      const reason = lacks(tool);
      if (reason) {
        console.log(`skipped  ${tool.name}: ${reason}`);
        continue;
      }
      const chosen = (text) => values.what === undefined || text.includes(values.what);
      const keep = (runs) => (store(here, folder, { name: tool.name, runs }), writePage());
      const runs = await runTool(tool, tools, stored(here, folder)?.runs ?? [], chosen, keep);
      if (!runs) return;
      keep(runs);
      if (runs.some(({ result }) => result === 'fails')) process.exitCode = 1;
    }
  } finally {
    await end();
  }
}

await main();
