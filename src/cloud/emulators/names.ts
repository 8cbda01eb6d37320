// Which vendors can be emulated. Their code is loaded when one is named.
import type { EmulatorDefinition } from './emulator.ts';

/** A vendor whose own package describes its API. */
const ofPackage = (vendor: string, provider: string) => async (): Promise<EmulatorDefinition> =>
  (await import('./vendor/index.ts')).vendorEmulator(vendor, provider);

/** `provider`: its name as `--cloud-provider`. */
const emulators = {
  aws: { provider: 'aws', load: async (): Promise<EmulatorDefinition> => (await import('./aws/index.ts')).awsEmulator },
  azure: { provider: 'azure', load: ofPackage('azure', 'azure') },
  baidu: { provider: 'cce', load: ofPackage('baidu', 'cce') },
  digitalocean: { provider: 'digitalocean', load: ofPackage('digitalocean', 'digitalocean') },
  gcp: { provider: 'gce', load: ofPackage('gcp', 'gce') },
  linode: { provider: 'linode', load: ofPackage('linode', 'linode') },
  oci: { provider: 'oci', load: ofPackage('oci', 'oci') },
} as const;

export type EmulatorName = keyof typeof emulators;
export const emulatorNames = Object.keys(emulators) as EmulatorName[];

/** Reads a name. Throws a sentence for one that is not there. */
export function emulatorNameOf(text: string): EmulatorName {
  const name = emulatorNames.find((known) => known === text);
  if (name) return name;
  throw new Error(`no vendor ${JSON.stringify(text)} can be emulated; there is: ${emulatorNames.join(', ')}`);
}

export const loadEmulator = (name: EmulatorName): Promise<EmulatorDefinition> => emulators[name].load();
/** The name of the provider that a vendor's clusters have. */
export const providerOfEmulator = (name: EmulatorName): string => emulators[name].provider;
