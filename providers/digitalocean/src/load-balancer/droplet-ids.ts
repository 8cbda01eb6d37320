// The droplets that stand behind a load balancer: by the provider IDs of the nodes, by their names for nodes that have none yet.
import type { Logger, Node } from 'sagong/cloud-provider';
import { during, textOf } from 'sagong/cloud-provider/kit';
import { quoted } from '../annotations.ts';
import type { DigitalOceanApi } from '../api/client.ts';
import { dropletIdOf, isNamed, nameOfNode } from '../droplets.ts';
import { shownNames } from './network.ts';

function idIn(providerId: string): number {
  try {
    return dropletIdOf(providerId);
  } catch (error) {
    throw new Error(`failed to parse provider ID ${quoted(providerId)}: ${textOf(error)}`, { cause: error });
  }
}

/** Nodes whose droplet is not found are left out and logged: the others must not wait for them. */
export async function dropletIdsOf(
  api: DigitalOceanApi,
  nodes: readonly Node[],
  logger: Logger,
  signal?: AbortSignal,
): Promise<number[]> {
  const known = nodes.flatMap(({ spec }) => (spec?.providerID ? [idIn(spec.providerID)] : []));
  const names = nodes.filter(({ spec }) => !spec?.providerID).map(nameOfNode);
  if (names.length === 0) return known;
  const droplets = await api.droplets(undefined, signal).catch((error: unknown) => {
    return during('failed to list all droplets')(error);
  });
  const missing: string[] = [];
  for (const name of names) {
    const found = droplets.find((droplet) => droplet.name === name) ?? droplets.find((droplet) => isNamed(droplet, name));
    if (found) known.push(found.id);
    else missing.push(name);
  }
  if (missing.length > 0) logger.error('failed to find droplets for nodes', { nodes: shownNames(missing) });
  return known;
}
