// The scheduling framework: what plugins are, and what they look at.
export * from './affinity-term.ts';
export * from './events.ts';
export * from './fit-error.ts';
export * from './limits.ts';
export * from './node-info.ts';
export * from './normalize.ts';
export * from './plugin.ts';
export * from './pod-info.ts';
export * from './profile.ts';
export * from './resources.ts';
export * from './snapshot.ts';
export * from './status.ts';
export * from './view.ts';
