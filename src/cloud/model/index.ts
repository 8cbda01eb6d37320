export * from './faults.ts';
export * from './machine-names.ts';
export * from './resources.ts';
export * from './world.ts';
