// Odd requests to every operation of every vendor's API, before the local cloud and as test server: the answer is the vendor's refusal, and never a failure of
// the server itself.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mirrored } from '../../../src/cloud/emulators/vendor/index.ts';
import { type EmulatorName, emulatorNames, providerOfEmulator } from '#cloud/emulators';
import { importVendorModule } from '#cloud-provider';
import type { VendorEmulation, VendorEmulatorDefinition } from '#cloud-provider/emulator';
import { testService } from '#cloud-provider/test-server';
import { seededRng } from '#utils';
import { testServers } from './odd-servers.ts';
import { oddRequests, type Sent } from './odd-requests.ts';
import { azurePlace, nodeOf, providerOf, webService } from './vendor-conformance.ts';
import { cluster, vendorWorld } from './vendor-world.ts';

const route = { name: 'one', targetNode: 'a', targetNodeAddresses: [], destinationCidr: '10.244.1.0/24' };
const uid = { 'configmaps ingress-uid': { metadata: { name: 'ingress-uid' }, data: { uid: '0123456789abcdef' } } };

/** An emulator that notes what it is asked, and can be told to ask nobody who they are. */
async function openEmulator(vendor: EmulatorName) {
  const { default: definition } = (await importVendorModule(providerOfEmulator(vendor), 'emulator')) as {
    default: VendorEmulatorDefinition;
  };
  const sent: Sent[] = [];
  let isOpen = false;
  let emulation: VendorEmulation | undefined;
  const noted: VendorEmulatorDefinition = {
    ...definition,
    open(context) {
      const made = (emulation = definition.open(context));
      return {
        ...made,
        checkAccess: (head) => (isOpen ? undefined : made.checkAccess(head)),
        answer(request) {
          const { method, path, body } = request;
          if (!isOpen) sent.push({ method, path, body: body.toString('utf8') });
          return made.answer(request);
        },
      };
    },
  };
  const world = await vendorWorld(vendor, vendor === 'azure' ? azurePlace : undefined, mirrored(vendor, noted));
  return { world, sent, operations: () => emulation?.operations ?? [], letIn: (all: boolean) => void (isOpen = all) };
}

const headersOf = (body: string) => ({
  host: 'localhost',
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(body)),
  'x-content-sha256': createHash('sha256').update(body).digest('base64'),
});

describe.each(emulatorNames.filter((name) => name !== 'aws'))('the emulated API of %s', (vendor) => {
  it('refuses what is odd, and works as before', async () => {
    const { world, sent, operations, letIn } = await openEmulator(vendor);
    try {
      for (const name of ['a', 'b']) await world.addInstance(name);
      const cloud = await providerOf(world, { objects: uid });
      const nodes = [await nodeOf(cloud, 'a'), await nodeOf(cloud, 'b')];
      const service = webService({ loadBalancerSourceRanges: ['192.0.2.0/24'] });
      await cloud.loadBalancer?.ensureLoadBalancer(cluster, service, nodes);
      await cloud.loadBalancer?.updateLoadBalancer(cluster, service, nodes.slice(0, 1));
      await cloud.routes?.createRoute(cluster, 'one', route);
      letIn(true);
      const failures: unknown[] = [];
      for (const { method, path, body } of oddRequests(sent, operations(), seededRng(1), 3)) {
        const answer = await world.emulator.answer({ method, path, headers: headersOf(body), body: Buffer.from(body) });
        if (answer.status === 500) failures.push({ method, path, body, answer: answer.body });
      }
      expect(failures).toEqual([]);
      letIn(false);
      const another = webService();
      another.metadata.uid = '6b1d6e3f-1111-4222-8333-944445555666';
      expect(await cloud.loadBalancer?.ensureLoadBalancer(cluster, another, nodes)).toMatchObject({ ingress: [{}] });
    } finally {
      await world.close();
    }
  });
});

describe.each(Object.entries(testServers))('the test server of %s', (_vendor, openServer) => {
  it('refuses what is odd', async () => {
    const { server, cloud, nodes, sign } = await openServer();
    try {
      const service = testService({}, { loadBalancerSourceRanges: ['192.0.2.0/24'] });
      // What makes one in several calls has sent enough in the first.
      await cloud.loadBalancer?.ensureLoadBalancer(cluster, service, nodes).catch(() => {});
      const sent = server.requests.map(({ method, url, bytes }) => {
        const text = bytes.toString('utf8');
        return { method, path: url.pathname + url.search, body: text.startsWith('{') ? text : '' };
      });
      const failures: unknown[] = [];
      for (const { method, path, body } of oddRequests(sent, server.operations, seededRng(1), 3)) {
        const url = new URL(path, server.url);
        const { host: _host, ...headers } = { ...headersOf(body), ...(await sign(method, url, body)) };
        const answer = await fetch(url, { method, headers, ...(method !== 'GET' && { body }) });
        const text = await answer.text();
        if (answer.status === 500) failures.push({ method, path, body, text });
      }
      expect(failures).toEqual([]);
    } finally {
      await server.close();
    }
  });
});
