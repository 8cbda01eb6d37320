// Patterns and expressions of users: definitions whose rules are much to compile, and values that rules are much to run for.
import { repeat, times } from './lib/repeat.mjs';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const things = '/apis/example.com/v1/things';
const definition = (spec, plural = 'things') => ({
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural, singular: plural.slice(0, -1), kind: `K${plural}` },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } },
    ],
  },
});
const rules = (count, rule) => ({ 'x-kubernetes-validations': times(count, () => ({ rule, message: 'm' })) });

const served =
  (spec) =>
  async ({ ask, adminToken }) => {
    const token = adminToken;
    await ask('POST', definitions, definition(spec), { token });
    for (let tries = 0; tries < 50 && (await ask('GET', things, undefined, { token })).status !== 200; tries++)
      await new Promise((done) => setTimeout(done, 200));
  };
const thing = (spec) =>
  repeat((_, { adminToken: token }) => ({
    path: `${things}?dryRun=All`,
    body: { apiVersion: 'example.com/v1', kind: 'Kthings', metadata: { name: 'a' }, spec },
    token,
  }));
const define = (spec) =>
  repeat((_, { adminToken: token }) => ({ path: `${definitions}?dryRun=All`, body: definition(spec, 'others'), token }));

const text = { type: 'string' };
const email = '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$';
const numbers = { type: 'array', maxItems: 100, items: { type: 'integer' } };
const cubic = 'self.all(x, self.all(y, self.all(z, x + y + z >= 0)))';

export default [
  { name: 'pattern that backtracks', prepare: served({ ...text, pattern: '^(a+)+$' }), run: thing(`${'a'.repeat(1_000_000)}!`) },
  { name: 'pattern of an e-mail address', prepare: served({ ...text, pattern: email }), run: thing('a'.repeat(1_000_000)) },
  {
    name: 'pattern of many states',
    prepare: served({ ...text, pattern: '^(a|b)*a(a|b){200}$' }),
    run: thing('ab'.repeat(500_000)),
  },
  { name: 'CEL, 5,000 operators in a row', run: define({ ...text, ...rules(1, `1${' + 1'.repeat(5_000)} > 0`) }) },
  { name: 'CEL, 20,000 parentheses', run: define({ ...text, ...rules(1, `${'('.repeat(20_000)}true${')'.repeat(20_000)}`) }) },
  { name: 'CEL, 30 rules of 90,000 characters', run: define({ ...text, ...rules(30, `[${'1,'.repeat(45_000)}1].size() > 0`) }) },
  {
    name: 'CEL, three loops in one another',
    prepare: served({ ...numbers, ...rules(1, cubic) }),
    run: thing(times(100, (at) => at)),
  },
  {
    name: 'CEL, matches of a long text',
    prepare: served({ ...text, maxLength: 300_000, ...rules(1, "self.matches('^(a+)+$')") }),
    run: thing('a'.repeat(300_000)),
  },
];
