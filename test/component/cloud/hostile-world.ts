// What stands between a provider and the local server of its vendor, for tests of what a provider makes of bad answers.
import { createServer, type IncomingHttpHeaders, request as send, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CloudProvider, Node, Service } from '#cloud-provider';
import { hastyClock, testService } from '#cloud-provider/test-server';
import * as azure from '../../../providers/azure/test-server/world.ts';
import * as baidu from '../../../providers/baidu/test-server/world.ts';
import * as digitalOcean from '../../../providers/digitalocean/test-server/world.ts';
import * as gcp from '../../../providers/gcp/test-server/world.ts';
import * as linode from '../../../providers/linode/test-server/world.ts';
import * as oci from '../../../providers/oci/test-server/world.ts';
import { emulatedAws } from '../emulators/aws-world.ts';

/** An answer as it would have been. Its body is text or, where it is JSON, a value; that of an empty answer an empty object. */
export interface Honest {
  headers: IncomingHttpHeaders;
  isXml: boolean;
  body: unknown;
}
/** Answers in the place of the cloud. */
export type Lie = (honest: Honest, response: ServerResponse) => void;

/** Passes everything on, and once it lies answers every request in its own way. */
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
          lie({ headers: answer.headers, isXml, body: isXml ? text : text === '' ? {} : JSON.parse(text) }, outgoing);
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

export interface Opened {
  cloud: CloudProvider;
  node: Node;
  say(lie: Lie | undefined): void;
  /** Where the provider believes its cloud to be. */
  url: string;
  close(): Promise<void>;
}
type Between = Awaited<ReturnType<typeof liar>>;
const opened = (cloud: CloudProvider, node: Node | undefined, between: Between, close: () => Promise<void>): Opened => ({
  cloud,
  node: node as Node,
  say: between.say,
  url: between.url,
  async close() {
    await between.close();
    await close();
  },
});

export const vendors: Readonly<Record<string, () => Promise<Opened>>> = {
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
    const world = await digitalOcean.openWorldAt(hastyClock());
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

export const cluster = 'kubernetes';

/** What came of a question: an answer, or that it failed. */
const outcome = (asked: Promise<unknown> | undefined): Promise<unknown> =>
  Promise.resolve(asked).then(
    (answer) => (answer === undefined ? 'nothing' : answer),
    () => 'failed',
  );

/** What a manager makes of a cloud that answers so: what exists, and whether a deletion counts as done. */
export async function conclusions({ cloud, node }: Opened, service: Service) {
  const unknownYet: Node = { ...node, spec: {} };
  const found = {
    exists: await outcome(cloud.instancesV2?.instanceExists(node)),
    existsByName: await outcome(cloud.instancesV2?.instanceExists(unknownYet)),
    balancer: await outcome(cloud.loadBalancer?.getLoadBalancer(cluster, service)),
    deleted: await outcome(cloud.loadBalancer?.ensureLoadBalancerDeleted(cluster, service)),
    routes: await outcome(cloud.routes?.listRoutes(cluster)),
  };
  await outcome(cloud.loadBalancer?.ensureLoadBalancer(cluster, service, [node]));
  await outcome(cloud.instancesV2?.instanceMetadata(node));
  return found;
}

async function again<T>(work: () => Promise<T>, left = 5): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (left === 0) throw error;
    return again(work, left - 1);
  }
}

/** A cloud of this vendor with a Node, and with a load balancer for the Service that is given with it. */
export async function openVendor(
  open: () => Promise<Opened>,
): Promise<Opened & { service: Service; ensure(): Promise<unknown> }> {
  const world = await open();
  const service = testService();
  const ensure = (): Promise<unknown> =>
    again(() => world.cloud.loadBalancer?.ensureLoadBalancer(cluster, service, [world.node]) as Promise<unknown>);
  await ensure();
  return { ...world, service, ensure };
}
