// The vendors' test servers with a provider that has been at work on them, and how a request to each is signed by hand.
import type { CloudProvider, Node } from '#cloud-provider';
import { hastyClock, type VendorServer } from '#cloud-provider/test-server';
import { createSigner, type Signer } from '../../../providers/oci/src/api/signer.ts';
import { signedHeaders } from '../../../providers/baidu/src/api/sign.ts';
import * as azure from '../../../providers/azure/test-server/world.ts';
import * as baidu from '../../../providers/baidu/test-server/world.ts';
import * as digitalOcean from '../../../providers/digitalocean/test-server/world.ts';
import * as gcp from '../../../providers/gcp/test-server/world.ts';
import * as linode from '../../../providers/linode/test-server/world.ts';
import * as oci from '../../../providers/oci/test-server/world.ts';

export interface OpenedServer {
  server: VendorServer;
  cloud: CloudProvider;
  nodes: Node[];
  sign(method: string, url: URL, body: string): Promise<Record<string, string>> | Record<string, string>;
}

const bearer = (token: string) => () => ({ authorization: `Bearer ${token}` });

export const testServers: Readonly<Record<string, () => Promise<OpenedServer>>> = {
  async azure() {
    const world = await azure.openWorld();
    const nodes = azure.addNodes(world, ['a', 'b']);
    return { server: world.server, cloud: await world.open(), nodes, sign: bearer(world.server.token) };
  },
  async baidu() {
    const world = await baidu.openWorld();
    const nodes = baidu.addNodes(world, ['a', 'b']);
    const [credentials] = world.server.credentials;
    const cloud = await world.open();
    const sign = (method: string, url: URL): Record<string, string> => {
      const atMs = world.clock.now();
      try {
        return signedHeaders({ method, url, atMs, expireSeconds: 1_800 }, credentials);
      } catch {
        // A path that nobody can sign: of the right form, so that the server looks at it.
        const timestamp = new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
        return { authorization: `bce-auth-v1/${credentials.accessKeyId}/${timestamp}/1800/host/${'0'.repeat(64)}` };
      }
    };
    return { server: world.server, cloud, nodes, sign };
  },
  async digitalocean() {
    const world = await digitalOcean.openWorldAt(hastyClock());
    const { id } = world.server.account.addDroplet('a');
    const node = digitalOcean.nodeWith('a', { '192.0.2.1': 'ExternalIP' }, `digitalocean://${id}`);
    return { server: world.server, cloud: await world.open(), nodes: [node], sign: bearer(world.server.token) };
  },
  async gcp() {
    const world = await gcp.openWorld();
    const nodes = gcp.addNodes(world, 'a', 'b');
    return { server: world.server, cloud: await world.open({}), nodes, sign: bearer(world.server.token) };
  },
  async linode() {
    const world = await linode.openWorld();
    const nodes = linode.addNodes(world, ['a', 'b']);
    return { server: world.server, cloud: await world.open(), nodes, sign: bearer(world.server.token) };
  },
  async oci() {
    const world = await oci.openWorld();
    const nodes = oci.addNodes(world, ['a', 'b']);
    const { tenancy, user, fingerprint, key } = world.server.user;
    const signer = createSigner({
      getKeyId: () => Promise.resolve(`${tenancy}/${user}/${fingerprint}`),
      getPrivateKey: () => key,
      getPassphrase: () => null,
    });
    const sign = async (method: string, url: URL, body: string): Promise<Record<string, string>> => {
      const headers = new Headers();
      await signer.sign({ method, headers, uri: url.href, body } as Parameters<Signer['sign']>[0]);
      return Object.fromEntries(headers);
    };
    return { server: world.server, cloud: await world.open(), nodes, sign };
  },
};
