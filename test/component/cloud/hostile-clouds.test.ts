// Providers of vendors, when what answers in the place of their cloud is a proxy with an error page, an API with another version, or somebody who means harm.
// Whatever it says, nobody may conclude that machines and load balancers are gone, and every call comes to an end.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conclusions, type Honest, openVendor, vendors } from './hostile-world.ts';

type Json = unknown;
type Lie = (honest: Json) => string;

const each = (value: Json, change: (value: Json) => Json): Json => {
  if (Array.isArray(value)) return change(value);
  if (typeof value !== 'object' || value === null) return change(value);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, each(inner, change)]));
};
const json =
  (change: (honest: Json) => Json): Lie =>
  (honest) =>
    JSON.stringify(change(honest)) ?? '';
const ofLists = (put: Json): Lie => json((honest) => each(honest, (value) => (Array.isArray(value) ? put : value)));

const lies: Readonly<Record<string, Lie>> = {
  null: () => 'null',
  'a number': () => '5',
  'a text': () => '"maintenance"',
  'an empty object': () => '{}',
  'a page of HTML': () => '<!DOCTYPE html><html><body><h1>Sign in</h1></body></html>',
  'half of the answer': (honest) => (JSON.stringify(honest) ?? '').slice(0, -2),
  'an error with status 200': () =>
    JSON.stringify({ error: { code: 500, message: 'internal' }, message: 'internal', code: 'Internal' }),
  'errors with status 200': () => JSON.stringify({ errors: [{ reason: 'internal' }] }),
  'null for every list': ofLists(null),
  'an object for every list': ofLists({ length: 3 }),
  'a text for every list': ofLists('abc'),
  'null in every list': ofLists([null]),
};

/** What may be said of any answer: AWS's are not JSON. */
const xmlLies: Readonly<Record<string, Lie>> = {
  ...Object.fromEntries(
    ['null', 'a number', 'a text', 'an empty object', 'a page of HTML', 'an error with status 200'].map((name) => [
      name,
      lies[name] as Lie,
    ]),
  ),
  'half of the answer': (honest) => String(honest).slice(0, -20),
  'an element of another kind': () => '<Surprise><nothing/></Surprise>',
  'an answer without its result': (honest) => String(honest).replace(/(<\w+Response[^>]*>).*(<\/\w+Response>)/s, '$1$2'),
};

describe.each(Object.entries(vendors))('what stands in the place of %s', (vendor, open) => {
  let world: Awaited<ReturnType<typeof openVendor>>;
  beforeAll(async () => {
    world = await openVendor(open);
  }, 60_000);
  afterAll(() => world?.close());

  it.each(Object.entries(vendor === 'aws' ? xmlLies : lies))(
    'may answer with %s, and nothing counts as gone',
    { timeout: 60_000 },
    async (_what, lie) => {
      world.say(({ body, isXml }: Honest, response) => {
        response.writeHead(200, { 'content-type': isXml ? 'text/xml' : 'application/json' }).end(lie(body));
      });
      try {
        const { exists, existsByName, balancer, deleted } = await conclusions(world, world.service);
        expect(exists).not.toBe(false);
        expect(existsByName).not.toBe(false);
        expect(balancer).not.toBe('nothing');
        expect(deleted).toBe('failed');
      } finally {
        world.say(undefined);
      }
    },
  );
});
