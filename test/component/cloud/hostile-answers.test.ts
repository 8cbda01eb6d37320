// What clouds, and whatever stands in their place, do beyond answering with the wrong words: other statuses, redirects, lists without an end, answers
// that are endless, slow or of the wrong types. Every call ends, in bounded memory, and nothing counts as gone.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { retryAfterOf } from '#cloud-provider';
import { cluster, conclusions, type Honest, type Lie, openVendor, vendors } from './hostile-world.ts';

const page = '<!DOCTYPE html><html><body><h1>404 page not found</h1></body></html>';
const typeOf = ({ isXml }: Honest) => ({ 'content-type': isXml ? 'text/xml' : 'application/json' });
const answer =
  (status: number, body: string, headers: Record<string, string> = {}): Lie =>
  (honest, response) =>
    void response.writeHead(status, { ...typeOf(honest), ...headers }).end(body);
const html = { 'content-type': 'text/html' };

const map = (value: unknown, change: (leaf: unknown) => unknown): unknown => {
  if (Array.isArray(value)) return value.map((one) => map(one, change));
  if (typeof value !== 'object' || value === null) return change(value);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, map(inner, change)]));
};
const leaves =
  (change: (leaf: unknown) => unknown): Lie =>
  (honest, response) =>
    void response.writeHead(200, typeOf(honest)).end(JSON.stringify(map(honest.body, change)));

const lies: Readonly<Record<string, Lie>> = {
  'a page of HTML that nothing is there': answer(404, page, html),
  'nothing but 404': answer(404, ''),
  '404 and an empty object': answer(404, '{}'),
  'the 404 of a gateway': answer(404, '{"message":"no Route matched with those values"}'),
  'a page of HTML with 410': answer(410, page, html),
  'the sign-in of a proxy': answer(401, page, html),
  'an object for every text': leaves((leaf) => (typeof leaf === 'string' ? { text: leaf } : leaf)),
  'a number for every text': leaves((leaf) => (typeof leaf === 'string' ? 7 : leaf)),
  'null for every text': leaves((leaf) => (typeof leaf === 'string' ? null : leaf)),
  'the throttling of a thousand years': answer(429, '{}', { 'retry-after': '99999999999' }),
  'ten thousand brackets': answer(200, '['.repeat(10_000)),
};

describe.each(Object.entries(vendors))('what stands in the place of %s', (vendor, open) => {
  let world: Awaited<ReturnType<typeof openVendor>>;
  /** Where a redirect leads to. */
  let elsewhere: Server;
  let visits = 0;
  beforeAll(async () => {
    world = await openVendor(open);
    elsewhere = createServer((_request, response) => {
      visits += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  }, 60_000);
  afterAll(async () => {
    await world?.close();
    elsewhere?.close();
  });
  async function nothingIsGone(lie: Lie): Promise<void> {
    world.say(lie);
    try {
      const { exists, existsByName, balancer, deleted } = await conclusions(world, world.service);
      world.say(undefined);
      // Changes pass through: what was told to be deleted may be.
      const isGone = (await world.cloud.loadBalancer?.getLoadBalancer(cluster, world.service)) === undefined;
      expect({ exists, existsByName, balancer, deleted }).toEqual({
        exists: expect.toSatisfy((one) => one !== false),
        existsByName: expect.toSatisfy((one) => one !== false),
        balancer: expect.toSatisfy((one) => one !== 'nothing'),
        deleted: expect.toSatisfy((one) => one === 'failed' || isGone),
      });
    } finally {
      world.say(undefined);
      await world.ensure();
    }
  }

  // The SDK of AWS waits for real seconds after throttling, however long it is told to wait.
  const isXml = vendor === 'aws';
  const fitting = Object.entries(lies).filter(([what]) => !isXml || !/ for every |throttling/.test(what));
  it.each(fitting)('may answer with %s, and nothing counts as gone', { timeout: 60_000 }, (_what, lie) => nothingIsGone(lie));

  it.each([301, 302, 307, 308])('may lead elsewhere with %i, and nobody goes there', async (status) => {
    const { port } = elsewhere.address() as AddressInfo;
    visits = 0;
    await nothingIsGone((_honest, response) => {
      response.writeHead(status, { location: `http://127.0.0.1:${port}/` }).end();
    });
    expect(visits).toBe(0);
  });

  // The same reason as above.
  it.skipIf(isXml)(
    'may say when it wants to be asked again, also by 503, and the controller is told',
    { timeout: 60_000 },
    async () => {
      const { cloud, node, service } = world;
      const refusals = async (): Promise<unknown[]> =>
        (
          await Promise.allSettled([
            cloud.instancesV2?.instanceExists({ ...node, spec: {} }),
            cloud.loadBalancer?.getLoadBalancer(cluster, service),
            cloud.loadBalancer?.ensureLoadBalancer(cluster, service, [node]),
            cloud.loadBalancer?.ensureLoadBalancerDeleted(cluster, service),
            cloud.routes?.listRoutes(cluster),
          ])
        ).flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
      for (const status of [429, 503]) {
        world.say(answer(status, '{}', { 'retry-after': '97' }));
        try {
          const reasons = await refusals();
          expect(reasons.length).toBeGreaterThanOrEqual(4);
          expect(new Set(reasons.map(retryAfterOf)), String(status)).toEqual(new Set([97_000]));
        } finally {
          world.say(undefined);
          await world.ensure();
        }
      }
    },
  );

  /** Asks whether a machine exists by its name, so that lists are read. */
  async function getsNoAnswer(lie: Lie): Promise<void> {
    const { cloud, node } = world;
    world.say(lie);
    try {
      await expect(cloud.instancesV2?.instanceExists({ ...node, spec: {} })).rejects.toThrow();
    } finally {
      world.say(undefined);
    }
  }
  // A thousand pages through the SDKs of these take half a minute.
  const isSlow = ['azure', 'digitalocean'].includes(vendor) && process.env['SAGONG_HOSTILE'] !== 'full';
  it.skipIf(isSlow || isXml)('may say for ever that there is more', { timeout: 60_000 }, async () => {
    let count = 0;
    const another = (): string => `more-${++count}`;
    await getsNoAnswer((honest, response) => endless(honest, response, world.url, another));
  });

  it('may answer without an end, and nobody keeps it all', { timeout: 60_000 }, async () => {
    let most = 0;
    await getsNoAnswer((honest, response) => {
      response.writeHead(200, typeOf(honest));
      let bytes = 0;
      const chunk = Buffer.alloc(1 << 20, ' ');
      const more = (): void => {
        while (!response.destroyed && bytes < 1 << 27) {
          bytes += chunk.length;
          most = Math.max(most, bytes);
          if (!response.write(chunk)) return void response.once('drain', more);
        }
        response.end('{}');
      };
      more();
    });
    expect(most).toBeLessThan(1 << 26);
  });
});

/** The answer with no things in it and with the vendor's word for more of them. */
function endless({ body, headers }: Honest, response: ServerResponse, url: string, another: () => string): void {
  const cursor = another();
  const empty = Array.isArray(body)
    ? []
    : Object.fromEntries(Object.entries(body as object).map(([key, value]) => [key, Array.isArray(value) ? [] : value]));
  const more = {
    nextLink: `${url}/subscriptions/x/providers/y?api-version=1&at=${cursor}`,
    nextPageToken: cursor,
    isTruncated: true,
    nextMarker: cursor,
    links: { pages: { next: `${url}/v2/x?page=${cursor}` } },
    pages: 1_000_000,
    results: 1_000_000,
  };
  const content = JSON.stringify(Array.isArray(empty) ? empty : { ...empty, ...more });
  const { 'opc-request-id': id = '' } = headers;
  response.writeHead(200, { 'content-type': 'application/json', 'opc-next-page': cursor, 'opc-request-id': id }).end(content);
}
