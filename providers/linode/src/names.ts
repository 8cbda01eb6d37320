// Names by which things are known: provider IDs, and the labels and tags of what the provider makes. Pure.
import { createHash } from 'node:crypto';
import { instanceIdOf, type Node, providerIdOf, type Service } from 'sagong/cloud-provider';

export const providerName = 'linode';
/** The name under which the provider acts in the cluster, which is upstream's. */
export const clientName = 'linode-shared-informers';
export const component = 'linode-cloud-controller-manager';

export const formatProviderId = (id: number): string => providerIdOf(providerName, String(id));

/** The ID of a Node's Linode, by its provider ID; undefined: it has none yet. Throws for the ID of another cloud. */
export function linodeIdOf({ spec }: Node): number | undefined {
  const { providerID } = spec ?? {};
  if (!providerID) return undefined;
  const id = Number(instanceIdOf(providerName, providerID));
  if (!Number.isSafeInteger(id) || id <= 0) throw new Error(`invalid provider ID ${JSON.stringify(providerID)}`);
  return id;
}

const hashCharacters = 12;

/** As long as upstream's label, but of the UID in the place of the time: it is found again whatever else is lost. */
export const balancerLabel = (prefix: string, { metadata }: Service): string =>
  `${prefix}-${createHash('sha256')
    .update(metadata.uid ?? '')
    .digest('hex')
    .slice(0, hashCharacters)}`;

const serviceTagPrefix = 'k8s-service:';
const firewallTagPrefix = 'k8s-firewall:';

/** On NodeBalancers and firewalls: the Service that they are for, in the 50 characters that a tag may have. */
export const serviceTag = ({ metadata }: Service): string => `${serviceTagPrefix}${metadata.uid ?? ''}`;
/** The tag of a NodeBalancer that names the firewall which was attached because an annotation asks for it. */
export const firewallTag = (id: number): string => `${firewallTagPrefix}${id}`;

export const isServiceTag = (tag: string): boolean => tag.startsWith(serviceTagPrefix);
export const firewallIdIn = (tags: readonly string[]): number | undefined => {
  const tag = tags.find((one) => one.startsWith(firewallTagPrefix));
  return tag === undefined ? undefined : Number(tag.slice(firewallTagPrefix.length));
};
