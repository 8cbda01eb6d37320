// The values of `--topology` and `--endpoint-access`: the shape of a cluster, and who may reach its control plane.

/** Shape of a cluster: the control plane among its nodes, or in the provider's network. */
export type Topology = (typeof topologies)[number];
export const topologies = ['self-managed', 'managed'] as const;
/** Who reaches the endpoint of a managed control plane, in the words of Amazon EKS. */
export type EndpointAccess = (typeof endpointAccesses)[number];
export const endpointAccesses = ['public', 'public-and-private', 'private'] as const;

/** Reads a mode. Throws a sentence for anything else. */
export function endpointAccessOf(text: string): EndpointAccess {
  const access = endpointAccesses.find((name) => name === text);
  if (!access) throw new Error(`the endpoint's access is one of ${endpointAccesses.join(', ')}, not ${JSON.stringify(text)}`);
  return access;
}
