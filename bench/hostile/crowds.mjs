// Much of the same: thousands of objects that go at once, many writers of one object, and thousands of names that a server may be made to remember.
import { many, repeat } from './lib/repeat.mjs';

const space = '/api/v1/namespaces/tenant/configmaps';
const objects = 20_000;
const merge = 'application/merge-patch+json';

/** What a server tells of itself must not grow with what strangers call themselves and ask for. */
const metricsBytesMax = 2 * 1024 * 1024;
const bounded = async ({ ask, adminToken: token }) => {
  const { text } = await ask('GET', '/metrics', undefined, { token });
  return text.length > metricsBytesMax ? [`/metrics has grown to ${text.length} bytes`] : [];
};

const odd = (at) => `x${at.toString(36)}`;

export default [
  {
    name: `crowds, deletecollection of ${objects} objects`,
    prepare: ({ ask, adminToken: token }) =>
      many(objects, 64, (at) => ask('POST', space, { metadata: { name: `c${at}`, labels: { at: String(at) } } }, { token })),
    async run({ ask, tenantToken: token }) {
      await ask('DELETE', space, undefined, { token });
    },
  },
  {
    name: 'crowds, 50 writers of one object',
    prepare: ({ ask, adminToken: token }) => ask('POST', space, { metadata: { name: 'one' } }, { token }),
    run: repeat(
      (at, { tenantToken: token }) => ({
        method: 'PATCH',
        path: `${space}/one`,
        body: { data: { [`k${at % 50}`]: String(at) } },
        contentType: merge,
        token,
      }),
      { atOnce: 50 },
    ),
  },
  {
    name: 'crowds, thousands of names of resources, verbs, agents and users',
    after: bounded,
    run: repeat(
      (at, { token }) => ({
        method: ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'LOCK'][at % 7],
        path: `/apis/${odd(at)}.example.com/${odd(at)}/namespaces/${odd(at)}/${odd(at)}/${odd(at)}/${odd(at)}?dryRun=All`,
        headers: {
          'user-agent': `${odd(at)}/1`,
          'impersonate-user': odd(at),
          'x-remote-user': odd(at),
          accept: `application/${odd(at)}`,
        },
        token,
      }),
      { atOnce: 16 },
    ),
  },
  {
    name: 'crowds, thousands of tokens that are none',
    after: bounded,
    run: repeat((at) => ({ method: 'GET', path: `/api/v1/${odd(at)}`, token: odd(at) }), { atOnce: 16 }),
  },
];
