// Rules that the workload controllers share: which pods count, which go first, and what a pod made from a template looks like.
export * from './active.ts';
export * from './claim.ts';
export * from './conditions.ts';
export * from './deletion-order.ts';
export * from './hash.ts';
export * from './selector.ts';
export * from './template.ts';
