export type * from './types.ts';
export * from './errors.ts';
