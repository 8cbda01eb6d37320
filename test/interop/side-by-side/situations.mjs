#!/usr/bin/env node
// Plays situations on upstream's apiserver and on ours: namespaces that end, quotas and limits, webhooks and policies, definitions that change, managers that take fields from each other, pages of lists,
// deletions of many, names that are drawn. Where sequences.mjs is about one object's life, these are about what objects do to each other. Each is drawn from a seed; every answer is compared.
// Ends with "N situations, N requests, N differ".
//
//   SAGONG_UPSTREAM_BIN=DIR node test/interop/side-by-side/situations.mjs [--seed N] [--rounds N] [--only NAME,NAME] [--trace] [--examples N] [--upstream URL --sagong URL]
import { parseArgs } from 'node:util';
import { compareAnswers } from './answers.mjs';
import { Tally } from './differences.mjs';
import { random } from './random.mjs';
import { pairOf } from './servers.mjs';
import { applies } from './situations/applies.mjs';
import { definitions } from './situations/definitions.mjs';
import { deletions } from './situations/deletions.mjs';
import { lists } from './situations/lists.mjs';
import { names } from './situations/names.mjs';
import { namespaces } from './situations/namespaces.mjs';
import { policies } from './situations/policies.mjs';
import { quotas } from './situations/quotas.mjs';
import { webhooks } from './situations/webhooks.mjs';

const text = { type: 'string' };
const { values: options } = parseArgs({ options: { seed: text, rounds: text, only: text, trace: { type: 'boolean' }, examples: text, upstream: text, sagong: text } });
const firstSeed = Number(options.seed ?? 1);
const rounds = Number(options.rounds ?? 3);
const all = { applies, definitions, deletions, lists, names, namespaces, policies, quotas, webhooks };
const json = 'application/json';

/** What a situation is played with: `ask(method, path, body, { type, accept })` sends to both and answers `[theirs, ours]`, read; a path or body that is a function is given the side. */
function playing(pair, tally, seed, name) {
  const count = { requests: 0 };
  const send = (method, path, body, { type = json, accept = json } = {}) => {
    count.requests += 1;
    const of = (value, side) => (typeof value === 'function' ? value(side) : value);
    return Promise.all(
      [pair.upstream, pair.sagong].map(async (server, side) => {
        const sent = of(body, side);
        const request = { headers: { accept, ...(sent !== undefined && { 'content-type': type }) }, ...(sent !== undefined && { body: typeof sent === 'string' ? sent : JSON.stringify(sent) }) };
        const asked = of(path, side);
        return { asked, request, answer: await server.call(method, asked, request).catch((error) => ({ status: 0, headers: {}, text: error.message })) };
      }),
    );
  };
  const read = ({ answer }) => {
    try {
      return { status: answer.status, body: JSON.parse(answer.text) };
    } catch {
      return { status: answer.status, body: answer.text };
    }
  };
  const ask = async (...call) => {
    const [theirs, ours] = await send(...call);
    const told = `${call[0]} ${theirs.asked} ${String(theirs.request.body ?? '').slice(0, 1500)}`;
    if (options.trace) console.log(`${told}\n   ${[theirs, ours].map(({ answer }) => `${answer.status} ${answer.text.slice(0, 1500)}`).join('\n   ')}`);
    for (const { name: difference, example } of compareAnswers(theirs.answer, ours.answer)) tally.add(`${name}: ${difference}`, `seed ${seed}: ${example}\n          ${told}`);
    return [theirs, ours].map(read);
  };
  /** Compares two values, such as what each server asked a webhook. */
  ask.differ = (theirs, ours, told) => {
    const answers = [theirs, ours].map((value) => ({ status: 200, headers: {}, text: JSON.stringify(value) }));
    for (const { name: difference, example } of compareAnswers(...answers)) tally.add(`${name}, ${told}: ${difference}`, `seed ${seed}: ${example}`);
  };
  /** Sends without comparing: what prepares or looks whether both are ready. */
  const both = async (...call) => (await send(...call)).map(read);
  return { ask, both, count };
}

async function main() {
  const chosen = options.only?.split(',') ?? Object.keys(all);
  const pair = await pairOf(options);
  const tally = new Tally();
  const mark = Date.now() % 100000;
  let [situations, requests] = [0, 0];
  try {
    for (let seed = firstSeed; seed < firstSeed + rounds; seed += 1)
      for (const name of chosen) {
        const { ask, both, count } = playing(pair, tally, seed, name);
        const namespace = `${name}-${seed}-${mark}`;
        await both('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
        await both('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
        // One that breaks off says what it met until then.
        await all[name]({ ask, both, chance: random(seed), namespace, mark: `${seed}-${mark}` }).catch((error) => tally.add(`${name}: broke off: ${error.message}`, `seed ${seed}: ${error.stack}`));
        [situations, requests] = [situations + 1, requests + count.requests];
      }
    for (const line of tally.lines(1000, Number(options.examples ?? 1))) console.log(line);
    console.log(`${situations} situations, ${requests} requests, ${tally.total} differ`);
    process.exitCode = tally.total === 0 ? 0 : 1;
  } finally {
    await pair.close();
  }
}
await main();
