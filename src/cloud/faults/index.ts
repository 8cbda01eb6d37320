// Failures on request: which call fails how, by a seed, and reads that show an older world.
export { FaultGate, type Verdict } from './gate.ts';
export { type LaggingWorlds, laggingWorlds } from './lagging-worlds.ts';
