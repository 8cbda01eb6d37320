// The cloud without a machine: all of it in memory, drivers that make nothing real, and its API without a connection.
export { directCalls, type DirectDeps } from './client.ts';
export { type MemoryCloud, type MemoryCloudOptions, startMemoryCloud } from './cloud.ts';
export { memoryLoadBalancers, type MemoryLoadBalancersOptions } from './load-balancers.ts';
export { memoryMachines, type MemoryMachinesOptions } from './machines.ts';
export type { AuditEvent } from '../api/index.ts';
