// The local cloud's door.
export * from './model/index.ts';
