// The Linux driver of the local cloud: instances and networks on one machine (driver.ts says how to use it).
export { cgroupLayout, clearCgroups, createCgroups } from './cgroups.ts';
export { createMachineDriver, type MachineDriver, type MachineDriverDeps } from './driver.ts';
export { hasLeftovers, type RemoveOptions, removeMachine, unmountBelow } from './leftovers.ts';
