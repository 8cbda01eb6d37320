// The door of the local cloud's load balancers.
export { createLoadBalancerDriver, type LoadBalancerDeps } from './driver.ts';
