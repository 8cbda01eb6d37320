export * from './builtin-schema.ts';
export * from './kind.ts';
