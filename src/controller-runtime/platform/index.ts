// What the platform loops share: the resources they deal in, small patches.
export * from './resources.ts';
export * from './patches.ts';
export * from './pod-indexes.ts';
