// Which vendors can be emulated. Their code is loaded when one is named.
import type { EmulatorDefinition } from './emulator.ts';

const emulators = {
  aws: async (): Promise<EmulatorDefinition> => (await import('./aws/index.ts')).awsEmulator,
} as const;

export type EmulatorName = keyof typeof emulators;
export const emulatorNames = Object.keys(emulators) as EmulatorName[];

/** Reads a name. Throws a sentence for one that is not there. */
export function emulatorNameOf(text: string): EmulatorName {
  const name = emulatorNames.find((known) => known === text);
  if (!name) throw new Error(`no vendor ${JSON.stringify(text)} can be emulated; there is: ${emulatorNames.join(', ')}`);
  return name;
}

export const loadEmulator = (name: EmulatorName): Promise<EmulatorDefinition> => emulators[name]();
