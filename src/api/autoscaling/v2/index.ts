// The types of autoscaling/v2 (k8s.io/api), generated from upstream's definitions.
export type * from './types.gen.ts';
