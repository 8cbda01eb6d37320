// Rules about pods that more than one component applies.
export * from './conditions.ts';
export * from './identity.ts';
export * from './node-affinity.ts';
export * from './ports.ts';
export * from './qos.ts';
export * from './requests.ts';
export * from './restart.ts';
export * from './taints.ts';
export * from './totals.ts';
