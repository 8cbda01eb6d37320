#!/usr/bin/env node
// What somebody who means harm costs those who do not. While an attack runs, an innocent tenant on a connection of its own asks for a config
// map every 20 ms and writes one every 200 ms; printed are its longest wait, its 99th percentile, how many of its requests were refused or
// lost, how long the main thread of ours was held at most (in CPU time, so that other programs do not count; 0: below 5 ms), and what the attack cost the server: milliseconds of CPU, its largest resident memory, descriptors that are still open when the
// attackers are gone. Each attack meets a server of its own; where SAGONG_UPSTREAM_BIN names a folder with kube-apiserver (see
// test/interop/upstream/build.sh), upstream's with an etcd meets the same one, and a ratio of the longest waits is printed.
//
//   [SAGONG_UPSTREAM_BIN=DIR] node bench/hostile.mjs [--only REGEX] [--seconds 5] [--ours] [--inside]
//
// --inside: what the longest turn of our main thread was spent on, under each attack
//
// An attack is an entry of the default export of a module in bench/hostile/ (lib/ is not one):
//
//   export default [
//     {
//       name: 'bodies that never end, HTTP/1.1',      // what is printed, and what --only is matched with
//       async prepare(target) {},                     // optional: what has to be there first, made as administrator; not measured
//       async run(target) {},                         // the attack; ends by itself, a little after target.seconds at the latest
//       async after(target) { return ['problem'] },   // optional: what is wrong once the attackers are gone, in words
//     },
//   ];
//
// `target` is what the attack meets:
//
//   url, host, port     the server
//   pid                 its process
//   maker               'sagong' or 'upstream'
//   seconds             how long an attack that is not a single request goes on
//   token               of an account without any rights (`mallory`); most attacks should need no more
//   tenantToken         of an account that may do everything in the namespace `tenant`
//   adminToken          of an administrator (`prepare`), or for attacks that need rights
//   ask(method, path, body, { token, contentType, headers, timeoutMs })
//                       one request over HTTP/1.1; resolves to { status, text }, status 0 where there was no answer; never rejects.
//                       `body` is sent as it is (string, Buffer), or as JSON
//   keep(thing)         a socket, session or stream that is destroyed when the attack is over; returns it
//   clients             openTcp(), openTls(), openHttp2(), request(method, path, headers): bench/hostile/lib/clients.mjs
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measure } from './hostile/lib/measure.mjs';
import { endCalls, root, upstreamBin } from './lib/servers.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '5' },
    ours: { type: 'boolean', default: false },
    inside: { type: 'boolean', default: false },
  },
});
const makers = ['sagong'];
if (!values.ours && existsSync(join(upstreamBin, 'kube-apiserver'))) makers.push('upstream');
else console.log('upstream is not measured: SAGONG_UPSTREAM_BIN names no folder with kube-apiserver, or --ours was given');

const folder = join(root, 'bench', 'hostile');
const modules = readdirSync(folder).filter((name) => name.endsWith('.mjs'));
const quiet = { name: 'nothing at all', run: ({ seconds }) => new Promise((done) => setTimeout(done, seconds * 1000)) };
const attacks = [quiet];
for (const name of modules.sort()) attacks.push(...(await import(join(folder, name))).default);
const chosen = attacks.filter(({ name }) => new RegExp(values.only, 'i').test(name));

const number = (value, width) => String(Number.isFinite(value) ? Math.round(value) : '-').padStart(width);
const head = ['longest ms', 'p99 ms', 'hold ms', 'refused', 'lost', 'CPU ms', 'RSS MB', 'fds left']
  .map((name) => name.padStart(10))
  .join('');
console.log(`${''.padEnd(12)}${head}`);
let problems = 0;
for (const attack of chosen) {
  console.log(attack.name);
  const longest = [];
  for (const maker of makers) {
    const seen = await measure(maker, attack, Number(values.seconds), values.inside);
    longest.push(seen.longestMs);
    const columns = [
      seen.longestMs,
      seen.p99Ms,
      seen.holdMs,
      seen.refused,
      seen.lost,
      seen.cpuMs,
      seen.rssMb,
      seen.descriptorsLeft,
    ];
    console.log(`  ${maker.padEnd(10)}${columns.map((value) => number(value, 10)).join('')}`);
    for (const problem of seen.problems) console.log(`    ${problem}`);
    if (maker === 'sagong') problems += seen.problems.length;
  }
  if (longest.length > 1) console.log(`  longest wait: ${(longest[0] / longest[1]).toFixed(2)} of upstream's`);
}
endCalls();
console.log(problems === 0 ? 'nothing broke' : `${problems} problems`);
process.exit(problems === 0 ? 0 : 1);
