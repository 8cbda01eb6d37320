// What the agent of a node and the add-on of the control plane agree on.

/** The label of a node whose agent answers cluster DNS at the node's InternalIP. */
export const dnsNodeLabel = 'sagong.dev/cluster-dns';
