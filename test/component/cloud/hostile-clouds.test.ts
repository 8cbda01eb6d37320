// Providers of vendors, when what answers in the place of their cloud is a proxy with an error page, an API with another version, or somebody who means harm.
// Whatever it says, nobody may conclude that machines and load balancers are gone, and every call comes to an end.
import { createServer, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CloudProvider, Node, Service } from '#cloud-provider';
import { testService } from '#cloud-provider/test-server';
import * as azure from '../../../providers/azure/test-server/world.ts';
import * as baidu from '../../../providers/baidu/test-server/world.ts';
import * as digitalOcean from '../../../providers/digitalocean/test-server/world.ts';
import * as gcp from '../../../providers/gcp/test-server/world.ts';
import * as linode from '../../../providers/linode/test-server/world.ts';
import * as oci from '../../../providers/oci/test-server/world.ts';
import { emulatedAws } from '../emulators/aws-world.ts';

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

/** Between a provider and its cloud: passes everything on, and once it lies changes every answer to a question. */
async function liar(target: string) {
  let lie: Lie | undefined;
  const server: Server = createServer((incoming, outgoing) => {
    const onward = send(
      new URL(incoming.url ?? '/', target),
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          if (!lie) return void outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(text);
          const isXml = String(answer.headers['content-type']).includes('xml');
          const changed = lie(isXml ? text : text === '' ? {} : (JSON.parse(text) as Json));
          outgoing.writeHead(200, { 'content-type': isXml ? 'text/xml' : 'application/json' }).end(changed);
        });
      },
    );
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    say(next: Lie | undefined) {
      lie = next;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Opened {
  cloud: CloudProvider;
  node: Node;
  say(lie: Lie | undefined): void;
  close(): Promise<void>;
}
type Between = Awaited<ReturnType<typeof liar>>;
const opened = (cloud: CloudProvider, node: Node | undefined, between: Between, close: () => Promise<void>): Opened => ({
  cloud,
  node: node as Node,
  say: between.say,
  async close() {
    await between.close();
    await close();
  },
});

const vendors: Readonly<Record<string, () => Promise<Opened>>> = {
  async aws() {
    let between: Between | undefined;
    const world = await emulatedAws({ between: async (url) => (between = await liar(url)).url });
    await world.addInstance('a');
    return opened(world.cloud, world.node('a'), between as unknown as Between, () => world.close());
  },
  async azure() {
    const world = await azure.openWorld();
    const between = await liar(world.server.url);
    const [node] = azure.addNodes(world, ['a']);
    return opened(await world.open({ url: between.url }), node, between, () => world.server.close());
  },
  async cce() {
    const world = await baidu.openWorld();
    const between = await liar(world.server.url);
    const [node] = baidu.addNodes(world, ['a']);
    return opened(await world.open({ url: between.url }), node, between, () => world.server.close());
  },
  async digitalocean() {
    const world = await digitalOcean.openWorld();
    const between = await liar(world.server.url);
    const { id } = world.server.account.addDroplet('a');
    const node = digitalOcean.nodeWith('a', { '192.0.2.1': 'ExternalIP' }, `digitalocean://${id}`);
    return opened(await world.open({ apiURL: between.url }), node, between, () => world.close());
  },
  async gce() {
    const world = await gcp.openWorld();
    const between = await liar(world.server.url);
    const [node] = gcp.addNodes(world, 'a');
    const cloud = await world.open({ 'api-endpoint': `${between.url}/compute/v1/` });
    return opened(cloud, node, between, () => world.server.close());
  },
  async linode() {
    const world = await linode.openWorld();
    const between = await liar(world.server.url);
    const [node] = linode.addNodes(world, ['a']);
    return opened(await world.open({ url: `${between.url}/v4` }), node, between, () => world.server.close());
  },
  async oci() {
    const world = await oci.openWorld();
    const between = await liar(world.server.url);
    const [node] = oci.addNodes(world, ['a']);
    return opened(await world.open({ url: between.url }), node, between, () => world.server.close());
  },
};

const cluster = 'kubernetes';
/** What came of a question: an answer, or that it failed. */
const outcome = (asked: Promise<unknown> | undefined): Promise<unknown> =>
  Promise.resolve(asked).then(
    (answer) => (answer === undefined ? 'nothing' : answer),
    () => 'failed',
  );
async function again<T>(work: () => Promise<T>, left = 5): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (left === 0) throw error;
    return again(work, left - 1);
  }
}

describe.each(Object.entries(vendors))('what stands in the place of %s', (vendor, open) => {
  let world: Opened;
  const service: Service = testService();
  beforeAll(async () => {
    world = await open();
    await again(() => world.cloud.loadBalancer?.ensureLoadBalancer(cluster, service, [world.node]) as Promise<unknown>);
  }, 60_000);
  afterAll(() => world?.close());

  it.each(Object.entries(vendor === 'aws' ? xmlLies : lies))(
    'may answer with %s, and nothing counts as gone',
    { timeout: 60_000 },
    async (_what, lie) => {
      const { cloud, node, say } = world;
      const unknownYet: Node = { ...node, spec: {} };
      say(lie);
      try {
        const found = {
          exists: await outcome(cloud.instancesV2?.instanceExists(node)),
          existsByName: await outcome(cloud.instancesV2?.instanceExists(unknownYet)),
          balancer: await outcome(cloud.loadBalancer?.getLoadBalancer(cluster, service)),
          deleted: await outcome(cloud.loadBalancer?.ensureLoadBalancerDeleted(cluster, service)),
          routes: await outcome(cloud.routes?.listRoutes(cluster)),
        };
        expect(found.exists).not.toBe(false);
        expect(found.existsByName).not.toBe(false);
        expect(found.balancer).not.toBe('nothing');
        await outcome(cloud.loadBalancer?.ensureLoadBalancer(cluster, service, [node]));
        await outcome(cloud.instancesV2?.instanceMetadata(node));
        expect(found.deleted).toBe('failed');
      } finally {
        say(undefined);
      }
    },
  );
});
