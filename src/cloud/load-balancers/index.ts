// The door of the local cloud's load balancers.
export { createLoadBalancerDriver, type LoadBalancerDeps } from './driver.ts';
export { removeLoadBalancers, type RemoveOptions } from './leftovers.ts';
export type { InstanceDial } from './loopback/balancer.ts';
export { createLoopbackLoadBalancers, type LoopbackDeps } from './loopback/driver.ts';
