// What a Service can ask of its load balancer, and what our pieces in the cloud are marked with.

const prefix = 'service.beta.kubernetes.io/local-load-balancer-';
/** The annotation that chooses the kind of a load balancer: `proxy` or `network`. */
export const kindAnnotation = `${prefix}kind`;
/** `true`: an address of the VPC, not a public one. */
export const internalAnnotation = `${prefix}internal`;
/** `v1` or `v2`: the version of the PROXY protocol in which targets learn the client's address. */
export const proxyProtocolAnnotation = `${prefix}proxy-protocol`;
/** The address to have; `spec.loadBalancerIP` counts first. */
export const addressAnnotation = `${prefix}address`;

export const serviceUidTag = 'kubernetes.io/service-uid';
export const serviceNameTag = 'kubernetes.io/service-name';
/** The tag on everything that belongs to a cluster; its value is `owned`. */
export const clusterTag = (clusterId: string): string => `kubernetes.io/cluster/${clusterId}`;
/** Tags of instances that become labels of Nodes begin so. */
export const labelTagPrefix = 'label:';
