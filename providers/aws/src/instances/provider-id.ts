// Instances as Nodes name them: `aws:///<zone>/<id>`, `aws:////<id>`, the id alone, and names of Nodes made from ids (resource-based naming).
// Pure.

export const providerName = 'aws';

export const providerIdOf = (zone: string, instanceId: string): string => `${providerName}:///${zone}/${instanceId}`;

/** The id of the machine in a provider ID. Throws for one of another cloud, and for what is no id. */
export function instanceIdOfProviderId(providerId: string): string {
  const match = /^([a-z0-9-]+):\/\/(.*)$/i.exec(providerId);
  if (match && match[1] !== providerName) throw new Error(`Invalid scheme for AWS instance (${providerId})`);
  const path = match ? (match[2] ?? '') : `/${providerId}`;
  const id = path.split('/').findLast((token) => token !== '') ?? '';
  // What stands before the first slash is the host of the URL, never an id.
  if (!path.startsWith('/') || !/^(i-[^/]*|fargate-.+)$/.test(id))
    throw new Error(`Invalid format for AWS instance (${providerId})`);
  return id;
}

/** Nodes of Fargate have a network interface but no instance. */
export const isFargate = (id: string): boolean => id.startsWith('fargate-');

/** The instance ID in node names such as `i-0123` and `i-0123.eu-west-1.compute.internal`; undefined for names that follow the address. */
export const instanceIdOfNodeName = (name: string): string | undefined =>
  name.startsWith('i-') ? (name.split('.')[0] as string) : undefined;
