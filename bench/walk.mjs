// Which files one Pod create runs through, for docs/tour.md: an apiserver (memory store) in this process takes creates over TLS while a client
// watches, and V8's precise coverage says which functions ran for the last of them. A file counts when one of its functions ran.
//
//   node bench/walk.mjs [--src CHECKOUT] [--files]      --files: each of them, and not only how many a folder has
import https from 'node:https';
import { Session } from 'node:inspector/promises';
import { parseArgs } from 'node:util';
import { podText } from './lib/pod.mjs';
import { loadRooms, startRooms } from './lib/rooms.mjs';

const { values } = parseArgs({ options: { src: { type: 'string' }, files: { type: 'boolean', default: false } } });
const contents = `
export { defaultOptions, runKubeApiServer } from '#apiserver/app';
export { createClient } from '#client';
export { systemClock, systemRng } from '#host';
export { silentLogger } from '#utils';
`;

const session = new Session();
session.connect();
/** The text of each script, by which its functions find the file that they were bundled from. */
const texts = new Map();
session.on('Debugger.scriptParsed', ({ params }) => texts.set(params.scriptId, params.url));
await session.post('Debugger.enable');
const rooms = await loadRooms(contents, values.src);
const { server } = await startRooms(rooms, { rng: rooms.systemRng(), tokenFile: 'secret,admin,1,"system:masters"\n' });

const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
const ask = (method, path, body = '') =>
  new Promise((done, failed) => {
    const headers = {
      authorization: 'Bearer secret',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    https.request({ port: server.wire.port, method, path, agent, headers }, done).on('error', failed).end(body);
  });
const whole = async (response) => {
  for await (const _ of response);
  return response.statusCode;
};
const pods = '/api/v1/namespaces/default/pods';
const watch = await ask('GET', `${pods}?watch=1`);

/** Resolves when the create is answered and the watcher has its event. */
async function create(name) {
  const seen = new Promise((done) => watch.once('data', done));
  const status = await ask('POST', pods, podText(name)).then(whole);
  if (status !== 201) throw new Error(`create of ${name}: ${status}`);
  await seen;
}

for (let i = 0; i < 5; i++) await create(`before-${i}`);
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
for (let i = 0; i < 5; i++) await create(`warm-${i}`);
await session.post('Profiler.takePreciseCoverage');
await create('the-one');
const { result } = await session.post('Profiler.takePreciseCoverage');

/** Where each file of the checkout begins in a bundle: esbuild names it in a comment of its own line. */
const beginnings = (text) =>
  [...text.matchAll(/^\/\/ (?:.*\/)?src\/(\S+\.ts)$/gm)].map(({ index, 1: file }) => ({ index, file }));
const files = new Set();
for (const { scriptId, functions } of result) {
  if (!/bench-[^/]*\/rooms\.mjs$/.test(texts.get(scriptId) ?? '')) continue;
  const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
  const places = beginnings(scriptSource);
  for (const { ranges } of functions) {
    const [{ startOffset, count }] = ranges;
    if (count > 0 && startOffset > 0) files.add(places.findLast(({ index }) => index < startOffset)?.file);
  }
}
files.delete(undefined);

const folderOf = (file) =>
  file
    .split('/')
    .slice(0, file.startsWith('apiserver/') ? 2 : 1)
    .join('/');
for (const folder of new Set([...files].map(folderOf).sort())) {
  const own = [...files].filter((file) => folderOf(file) === folder).sort();
  console.log(values.files ? `${folder} ${own.length}\n  ${own.join('\n  ')}` : `${folder} ${own.length}`);
}
console.log(`in all ${files.size}`);
watch.destroy();
agent.destroy();
await server.close();
process.exit(0);
