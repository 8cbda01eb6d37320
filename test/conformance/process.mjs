// Child processes of the conformance run.
import { spawn } from 'node:child_process';

/** Runs a program to its end. Resolves with its output; rejects with its last lines when it fails. */
export function run(program, args, { cwd, env, onLine = () => {}, allowed = [0] } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      lines.forEach(onLine);
    });
    child.stderr.setEncoding('utf8').on('data', (text) => (errors = (errors + text).slice(-4000)));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (allowed.includes(code)) return resolve(output);
      reject(new Error(`${program} ${args.slice(0, 3).join(' ')} ... ended with ${signal ?? code}\n${errors || output.slice(-2000)}`));
    });
  });
}

/** Says what is being done, and in the end how long it took. */
export async function step(title, work) {
  const started = Date.now();
  process.stdout.write(`${title} ...\n`);
  const result = await work();
  process.stdout.write(`${title}: done in ${seconds(Date.now() - started)}\n`);
  return result;
}

export function seconds(ms) {
  const all = Math.round(ms / 1000);
  return all < 60 ? `${all} s` : `${Math.floor(all / 60)} min ${all % 60} s`;
}
