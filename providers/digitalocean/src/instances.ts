// Nodes and their droplets: by the number in the provider ID, else by the Node's name, which may also be one of the droplet's addresses.
import { isIP } from 'node:net';
import { CloudError, type InstancesV2, type Node, providerIdOf } from 'sagong/cloud-provider';
import { during, textOf } from 'sagong/cloud-provider/kit';
import type { DigitalOceanApi } from './api/client.ts';
import type { Droplet } from './api/types.ts';
import { addressesOf, dropletIdOf, isNamed, nameOfNode, providerName } from './droplets.ts';

/** Names are not unique: which of several droplets a Node is cannot be told, and another one's end would be taken for its own. */
function onlyOne(found: readonly Droplet[], name: string): Droplet | undefined {
  if (found.length > 1) throw new Error(`several droplets are called ${name}: ${found.map(({ id }) => id).join(', ')}`);
  return found[0];
}

/** The droplet of a Node of this name; undefined: there is none. */
async function dropletNamed(api: DigitalOceanApi, name: string, signal?: AbortSignal): Promise<Droplet | undefined> {
  const named = await api.droplets(name, signal);
  const found = onlyOne(
    named.filter((droplet) => droplet.name === name),
    name,
  );
  if (found || isIP(name) === 0) return found;
  const all = await api.droplets(undefined, signal);
  return onlyOne(
    all.filter((droplet) => isNamed(droplet, name)),
    name,
  );
}

function idIn(providerId: string): number {
  try {
    return dropletIdOf(providerId);
  } catch (error) {
    return during('determining droplet ID from providerID')(error);
  }
}

async function dropletOf(api: DigitalOceanApi, node: Node, signal?: AbortSignal): Promise<Droplet | undefined> {
  const providerId = node.spec?.providerID;
  const byId = Boolean(providerId);
  const id = providerId ? idIn(providerId) : 0;
  try {
    return await (byId ? api.droplet(id, signal) : dropletNamed(api, nameOfNode(node), signal));
  } catch (error) {
    return during(`getting droplet by ${byId ? 'ID' : 'name'}`)(error);
  }
}

async function existingOf(api: DigitalOceanApi, node: Node, signal?: AbortSignal): Promise<Droplet> {
  const droplet = await dropletOf(api, node, signal);
  if (droplet) return droplet;
  const providerId = node.spec?.providerID;
  throw new CloudError(
    'InstanceNotFound',
    providerId
      ? `droplet ${idIn(providerId)} for node ${nameOfNode(node)} does not exist`
      : 'getting droplet by name: instance not found',
  );
}

function addressesFor(droplet: Droplet, node: Node): ReturnType<typeof addressesOf> {
  try {
    return addressesOf(droplet);
  } catch (error) {
    throw new Error(`getting node addresses of droplet ${droplet.id} for node ${nameOfNode(node)}: ${textOf(error)}`, {
      cause: error,
    });
  }
}

/** Makes the part of the provider that knows machines. */
export const createInstances = (api: DigitalOceanApi): InstancesV2 => ({
  instanceExists: async (node, signal) => (await dropletOf(api, node, signal)) !== undefined,
  instanceShutdown: async (node, signal) => (await existingOf(api, node, signal)).status === 'off',
  async instanceMetadata(node, signal) {
    const droplet = await existingOf(api, node, signal);
    return {
      providerId: providerIdOf(providerName, String(droplet.id)),
      instanceType: droplet.size_slug,
      nodeAddresses: addressesFor(droplet, node),
      ...(droplet.region && { region: droplet.region.slug }),
    };
  },
});
