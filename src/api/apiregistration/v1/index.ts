// The types of apiregistration/v1 (k8s.io/api), generated from upstream's definitions.
export type * from './types.gen.ts';
