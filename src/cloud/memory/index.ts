// The cloud without a machine: all of it in memory, and drivers that make nothing real.
export { type MemoryCloud, type MemoryCloudOptions, startMemoryCloud } from './cloud.ts';
export { memoryLoadBalancers, type MemoryLoadBalancersOptions } from './load-balancers.ts';
export { memoryMachines, type MemoryMachinesOptions } from './machines.ts';
export type { AuditEvent } from '../api/index.ts';
