// Programs that a run starts: commands with what they printed, servers that stay until the end, and Go programs built from their published modules.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const commandTimeoutMs = 900_000;
/** Programs are built from their sources here, which a busy machine takes its time for. */
export const buildTimeoutMs = 4 * 3_600_000;
const outputBytesMax = 64 << 20;
const pollMs = 250;

/** `{ code, text, stdout }` of a command; `text` is what it printed on both streams. `onLine` is told each line of standard output when it comes. */
export const execute = (command, args, { env = {}, cwd, input, onLine, timeoutMs = commandTimeoutMs } = {}) =>
  new Promise((done) => {
    const options = { maxBuffer: outputBytesMax, env: { ...process.env, ...env }, cwd, timeout: timeoutMs };
    const child = execFile(command, args, options, (error, stdout, stderr) => done({ code: error ? 1 : 0, text: stdout + stderr, stdout }));
    if (input !== undefined) child.stdin.end(input);
    if (onLine) createInterface({ input: child.stdout }).on('line', onLine);
  });

/** What a command that has to succeed wrote to standard output. */
export async function must(command, args, options) {
  const answer = await execute(command, args, options);
  if (answer.code !== 0) throw new Error(`${command} ${args.join(' ')}\n${answer.text.slice(-4000)}`);
  return answer.stdout;
}

/** Asks again until `check` answers something true; what it last threw or `what` is told when it never does. */
export async function eventually(what, check, timeoutMs = 120_000) {
  const deadline = Date.now() + timeoutMs;
  let last = '';
  for (;;) {
    const answer = await Promise.resolve()
      .then(check)
      .catch((error) => {
        last = `: ${String(error.message ?? error).slice(-1500)}`;
      });
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`not so in time: ${what}${last}`);
    await new Promise((resume) => setTimeout(resume, pollMs));
  }
}

/** Programs that run beside a test: `start` answers `{ log, stop }`, `stopAll` ends what is left. */
export function background(work) {
  const running = new Set();
  const start = (name, command, args, { env = {}, cwd = work } = {}) => {
    const file = join(mkdtempSync(join(work, `${name}-`)), 'log');
    const out = openSync(file, 'w');
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', out, out] });
    let ended = false;
    const exit = once(child, 'exit').catch(() => undefined).then(() => {
      ended = true;
    });
    const log = () => readFileSync(file, 'utf8');
    const stop = async () => {
      running.delete(stop);
      if (ended) return;
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await exit;
      clearTimeout(kill);
    };
    running.add(stop);
    return { log, stop, ended: () => ended };
  };
  const stopAll = async () => {
    for (const stop of [...running].reverse()) await stop();
  };
  return { start, stopAll };
}

/** The folder of a Go module at a version, from the module cache. */
export async function goModule(work, module) {
  return JSON.parse(await must('go', ['mod', 'download', '-json', module], { cwd: work })).Dir;
}

/**
 * Programs of several modules, built in one that requires them all on top of what `base` pins, if given, so that what they share is compiled once; built once and kept.
 * `modules`: version by path. `replaced`: the same of those that stay older than others ask for. `programs`: `{ path, version }` of a package by
 * name, of which those in `wanted` are built. `files` are added. Resolves with `{ bin, folderOf(module) }`.
 */
export async function goPrograms(cache, { base, modules, replaced = {}, programs, wanted, files = {} }) {
  const mod = base ? readFileSync(join(base, 'go.mod'), 'utf8') : 'module programs\n\ngo 1.26.0\n';
  const pins = createHash('sha256').update(JSON.stringify([modules, replaced, files, mod]));
  const folder = join(cache, `programs-${pins.digest('hex').slice(0, 12)}`);
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const env = { CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: `${process.env.GOFLAGS ?? ''} -mod=mod` };
  const go = (...args) => must('go', args, { cwd: folder, env, timeoutMs: buildTimeoutMs });
  if (!existsSync(join(folder, 'go.mod'))) {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    if (base) copyFileSync(join(base, 'go.sum'), join(folder, 'go.sum'));
    const pinned = join(folder, 'pinned.mod');
    writeFileSync(pinned, mod);
    const required = Object.entries(modules).map(([path, version]) => `-require=${path}@${version}`);
    await go('mod', 'edit', ...required, ...Object.entries(replaced).map(([path, version]) => `-replace=${path}=${path}@${version}`), pinned);
    await must('mv', [pinned, join(folder, 'go.mod')]);
    // Versions are settled for all of them: one that another program asks for later would have the others compiled anew.
    await go('list', '-deps', ...Object.values(programs).map(({ path }) => path));
  }
  for (const name of wanted) {
    const out = join(bin, name);
    if (existsSync(out)) continue;
    const { path, version } = programs[name];
    await go('build', '-trimpath', '-ldflags', `-s -w -X main.version=${version}`, '-o', `${out}.partial`, path);
    await must('mv', [`${out}.partial`, out]);
  }
  return { bin, folderOf: async (module) => (await go('list', '-m', '-f', '{{.Dir}}', module)).trim() };
}

/** A copy of a Go module that can be written to; the module cache cannot. */
export async function goCopy(work, cache, module) {
  const copy = join(cache, `module-${module.replaceAll(/[^\w.@-]/g, '_')}`);
  if (!existsSync(copy)) {
    const partial = mkdtempSync(`${copy}-`);
    await must('cp', ['-rT', '--no-preserve=mode', await goModule(work, module), partial]);
    await must('mv', ['-T', partial, copy]);
  }
  return copy;
}

/** A program of a Go module, built in the module itself, so with the dependencies that its makers chose; built once and kept. `files` are added to the module's. */
export async function goProgram(work, cache, { module, version, path = '.', name, flags = [], files = {} }) {
  const binary = join(cache, `${name}-${version}`);
  if (existsSync(binary)) return binary;
  const copy = await goCopy(work, cache, `${module}@${version}`);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    writeFileSync(join(copy, file), text);
  }
  const partial = `${binary}.partial`;
  await must('go', ['build', '-trimpath', ...flags, '-o', partial, path], { cwd: copy, env: { CGO_ENABLED: '0', GOWORK: 'off' }, timeoutMs: buildTimeoutMs });
  await must('mv', [partial, binary]);
  rmSync(copy, { recursive: true, force: true });
  return binary;
}
