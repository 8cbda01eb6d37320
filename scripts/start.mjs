#!/usr/bin/env node
// `npm start`: a cluster with two nodes and the demo, in the foreground. Further words go to `sagong up`.
import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../bin/sagong.mjs', import.meta.url));
const given = process.argv.slice(2);
const has = (flag) => given.some((word) => word === flag || word.startsWith(`${flag}=`));
const args = [
  'up',
  ...(has('--nodes') ? [] : ['--nodes', '2']),
  '--demo',
  ...(has('--data-dir') || has('--name') ? [] : ['--data-dir', join(homedir(), '.sagong', 'sagong')]),
  ...given,
];
const child = spawn(process.execPath, [bin, ...args], { stdio: 'inherit' });
// Ctrl-C reaches the child through the terminal; other signals are passed on.
process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.once('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 0 : 1)));
