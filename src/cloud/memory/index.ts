// Drivers that make nothing real.
export { memoryLoadBalancers, type MemoryLoadBalancersOptions } from './load-balancers.ts';
export { memoryMachines, type MemoryMachinesOptions } from './machines.ts';
