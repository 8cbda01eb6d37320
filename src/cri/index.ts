// The Container Runtime Interface: a typed client for any CRI runtime, with events where the runtime has them.
export { connectCri, type CriClient, type CriOptions } from './client.ts';
export { type CriCode, CriError, criError, isNotFound, isUnimplemented } from './errors.ts';
export type * from './types.ts';
