// The types of apidiscovery/v2 (k8s.io/api), generated from upstream's definitions.
export type * from './types.gen.ts';
