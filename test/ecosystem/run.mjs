#!/usr/bin/env node
// Runs software that others wrote, unmodified and pinned, against a cluster of Sagong, and writes down what came of it. Opt-in: everything comes
// from package registries (Go modules, PyPI) and takes minutes. `npm run build` first.
//
//   node test/ecosystem/run.mjs [TOOL...] [--what TEXT]        all, or those folders of test/ecosystem; with --what those rows whose text or version holds TEXT
//
// A tool is a folder with tool.mjs: `{ name, needs, runs: [{ what, version, run(context) }] }`. `run` answers `{ result, differs? }` or throws. The cluster is
// `sagong up --runtime simulated --nodes 2` with a directory of its own, removed at the end. Results are kept in results.json; docs/compatibility.md is made of them.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '..', '..');
const sagong = join(root, 'bin/sagong.mjs');
const commandTimeoutMs = 900_000;
const outputBytesMax = 64 << 20;

/** `{ code, text }` of a command: what it printed on both streams. */
const execute = (command, args, { env = {}, cwd, input, timeoutMs = commandTimeoutMs } = {}) =>
  new Promise((done) => {
    const options = { maxBuffer: outputBytesMax, env: { ...process.env, ...env }, cwd, timeout: timeoutMs };
    const child = execFile(command, args, options, (error, stdout, stderr) => done({ code: error ? 1 : 0, text: stdout + stderr }));
    if (input !== undefined) child.stdin.end(input);
  });

/** The same, for what has to succeed. */
async function must(command, args, options) {
  const answer = await execute(command, args, options);
  if (answer.code !== 0) throw new Error(`${command} ${args.join(' ')}\n${answer.text.slice(-4000)}`);
  return answer.text;
}

/** The folder of a Go module at a version, from the module cache. */
async function goModule(work, module) {
  const text = await must('go', ['mod', 'download', '-json', module], { cwd: work });
  return JSON.parse(text.slice(text.indexOf('{'))).Dir;
}

/** A program of a Go module, built once and kept. */
async function goProgram(cache, module, version, path, name, flags = []) {
  const binary = join(cache, `${name}-${version}`);
  if (existsSync(binary)) return binary;
  const dir = mkdtempSync(join(cache, 'build-'));
  try {
    writeFileSync(join(dir, 'go.mod'), 'module build\n\ngo 1.24\n');
    writeFileSync(join(dir, 'tools.go'), `//go:build tools\n\npackage build\n\nimport _ "${path}"\n`);
    await must('go', ['get', `${module}@${version}`], { cwd: dir });
    await must('nice', ['-n', '15', 'go', 'build', '-mod=mod', '-trimpath', ...flags, '-o', binary, path], { cwd: dir });
    return binary;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const has = (program) => spawnSync(program, [program === 'go' ? 'version' : '--version']).status === 0;

async function main() {
  const { positionals: wanted, values } = parseArgs({ options: { what: { type: 'string' } }, allowPositionals: true });
  const folders = readdirSync(here, { withFileTypes: true }).filter((entry) => entry.isDirectory() && existsSync(join(here, entry.name, 'tool.mjs')));
  const unknown = wanted.filter((name) => !folders.some((folder) => folder.name === name));
  if (unknown.length > 0) throw new Error(`no such tool: ${unknown.join(', ')}`);
  const work = mkdtempSync(join(tmpdir(), 'sagong-ecosystem-'));
  const cache = process.env.SAGONG_ECOSYSTEM_CACHE ?? join(tmpdir(), 'sagong-ecosystem-cache');
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(work, 'go.mod'), 'module work\n\ngo 1.24\n');
  const kubeconfig = join(work, 'kubeconfig');
  const clusterName = `ecosystem-${process.pid}`;
  const place = ['--name', clusterName, '--data-dir', join(work, 'cluster')];
  const resultsFile = join(here, 'results.json');
  const stored = () => (existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {});
  const results = {};
  let failed = 0;
  let interrupted = false;
  const end = async () => {
    await execute(process.execPath, [sagong, 'down', ...place], { env: { KUBECONFIG: kubeconfig } });
    rmSync(work, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => {
      interrupted = true;
      void end().finally(() => process.exit(1));
    });
  try {
    await must(process.execPath, [sagong, 'up', ...place, '--nodes', '2', '--runtime', 'simulated', '--detach'], { env: { KUBECONFIG: kubeconfig } });
    const context = {
      ...{ work, cache, kubeconfig, sagong, execute, must },
      env: { KUBECONFIG: kubeconfig },
      goModule: (module) => goModule(work, module),
      goProgram: (...program) => goProgram(cache, ...program),
    };
    for (const { name: folder } of folders) {
      if (wanted.length > 0 && !wanted.includes(folder)) continue;
      const tool = (await import(pathToFileURL(join(here, folder, 'tool.mjs')).href)).default;
      const missing = tool.needs.filter((program) => !has(program));
      if (missing.length > 0) {
        console.log(`skipped  ${tool.name}: needs ${missing.join(', ')}`);
        continue;
      }
      const before = stored()[folder]?.runs ?? [];
      results[folder] = { name: tool.name, runs: [] };
      for (const { what, version, run } of tool.runs) {
        const known = before.find((one) => one.what === what && one.version === version);
        if (values.what !== undefined && !`${what} ${version}`.includes(values.what)) {
          if (known) results[folder].runs.push(known);
          continue;
        }
        const started = Date.now();
        const outcome = await run(context).catch((error) => ({ result: 'fails', differs: String(error.message ?? error).split('\n').slice(0, 3).join(' ').slice(0, 400), log: error.message }));
        const seconds = Math.round((Date.now() - started) / 1000);
        if (outcome.result === 'fails') failed += 1;
        const { log, ...kept } = outcome;
        results[folder].runs.push({ what, version, ...kept });
        console.log(`${outcome.result.padEnd(8)} ${tool.name}: ${what} ${version} (${seconds} s)${outcome.differs ? `: ${outcome.differs}` : ''}${log ? `\n${log}` : ''}`);
      }
    }
  } finally {
    await end();
  }
  if (interrupted) return;
  const all = { ...stored(), ...results };
  writeFileSync(resultsFile, `${JSON.stringify(all, null, 1)}\n`);
  writeFileSync(join(root, 'docs/compatibility.md'), page(all));
  process.exitCode = failed === 0 ? 0 : 1;
}

const row = (tool, { what, version, result, differs = '' }) => `| ${tool} | ${what} | ${version} | ${result} | ${differs.replaceAll('|', '\\|')} |`;

const page = (results) => `# Software seen to work

Made by \`node test/ecosystem/run.mjs\`, which runs each tool below as its makers publish it, pinned, from package registries, against a cluster of simulated nodes
(controller-runtime's suites: against the apiserver alone, as envtest starts it). Do not edit: run a tool again to renew its rows.

| tool | what | version | result | what differs |
|---|---|---|---|---|
${Object.keys(results)
  .sort()
  .flatMap((key) => results[key].runs.map((run) => row(results[key].name, run)))
  .join('\n')}
`;

await main();
