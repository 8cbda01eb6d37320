// The Container Runtime Interface: a typed client for any CRI runtime, with events where the runtime has them.
export type { CriClient, CriOptions } from './client.ts';
export { connectCri } from './connect.ts';
export { type CriCode, CriError, criError, isNotFound, isUnimplemented } from './errors.ts';
export type * from './types.ts';
