// What providers of vendors share. Public: `import ... from 'sagong/cloud-provider/kit'`.
export * from './annotations.ts';
export * from './batch.ts';
export * from './cache.ts';
export * from './calls.ts';
export * from './cluster-writer.ts';
export * from './credentials.ts';
export * from './difference.ts';
export * from './failure.ts';
export * from './http.ts';
export { inTime } from './in-time.ts';
export { type IniSection, parseIni } from './ini.ts';
export { iniFields } from './ini-fields.ts';
export * from './metrics.ts';
export * from './pages.ts';
export * from './poll.ts';
export * from './rate-limit.ts';
export { type Change, createSharedWrites, type SharedWritesOptions } from './shared-writes.ts';
export { createUnsettled, type Unsettled } from './unsettled.ts';
