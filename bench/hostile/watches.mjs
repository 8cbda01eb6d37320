// Watches: many of them for one event, with selectors that are much to ask, and those that want everything that is remembered again.
import { many, times } from './lib/repeat.mjs';

const space = '/api/v1/namespaces/tenant/configmaps';
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const watch = (query) => ({ ':method': 'GET', ':path': `${space}?watch=1&${query}`, authorization: 'Bearer tenant' });
const busy = { metadata: { name: 'busy', labels: { app: 'a' } } };

/** `count` watches over connections of 100 each. They are read, and dropped. */
async function open(target, count, query) {
  for (let opened = 0; opened < count; opened += 100) {
    const session = await target.clients.openHttp2();
    for (let at = 0; at < 100; at++) target.clients.stream(session, watch(query(opened + at)))?.resume();
  }
}

async function change(target) {
  const until = performance.now() + target.seconds * 1000;
  for (let at = 0; performance.now() < until; at++) {
    const body = { metadata: { labels: { app: at % 2 === 0 ? 'a' : 'b' } }, data: { at: String(at) } };
    const options = { token: target.tenantToken, contentType: 'application/merge-patch+json' };
    await target.ask('PATCH', `${space}/busy`, body, options);
    await pause(50);
  }
}

const prepare = ({ ask, adminToken: token }) => ask('POST', space, busy, { token });
/** A selector of about the longest length that a request's target may have. No object has any of the labels that it names. */
const absent = times(9_000, (at) => `!k${at.toString(36)}`).join(',');

export default [
  {
    name: 'watches, 3,000 with a selector, one busy object',
    prepare,
    async run(target) {
      await open(target, 3000, (at) => `labelSelector=app%3Da,x!%3D${at}`);
      await change(target);
    },
  },
  {
    name: 'watches, 300 with selectors of thousands of terms, one busy object',
    prepare,
    async run(target) {
      await open(target, 300, () => `labelSelector=${absent}`);
      await change(target);
    },
  },
  {
    name: 'watches, from long ago, again and again',
    async prepare(target) {
      await prepare(target);
      const options = { token: target.adminToken, contentType: 'application/merge-patch+json' };
      await many(16, 16, (at) => target.ask('POST', space, { metadata: { name: `b${at}` } }, { token: target.adminToken }));
      await many(16_000, 16, (at) => target.ask('PATCH', `${space}/b${at % 16}`, { data: { at: String(at) } }, options));
    },
    async run(target) {
      const until = performance.now() + target.seconds * 1000;
      const [{ metadata }] = [
        JSON.parse((await target.ask('GET', `${space}/busy`, undefined, { token: target.tenantToken })).text),
      ];
      const from = Number(metadata.resourceVersion) - 15_900;
      while (performance.now() < until) {
        const session = await target.clients.openHttp2();
        for (let at = 0; at < 20; at++)
          target.clients.stream(session, watch(`resourceVersion=${from + at}&labelSelector=${absent}`))?.resume();
        await pause(200);
        session.destroy();
      }
    },
  },
];
