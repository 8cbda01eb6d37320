// Vendors whose packages bring the description of their API: `@sagong/cloud-provider-<vendor>/emulator`.
import { join } from 'node:path';
import { importVendorModule } from '#cloud-provider';
import type { VendorEmulatorDefinition } from '#cloud-provider/emulator';
import { atomicWrite, readFileIfExists } from '#host';
import type { EmulatorDefinition } from '../emulator.ts';
import { Mirror } from './mirror.ts';

/** Made once, readable for the owner alone. */
async function secretAt(dir: string, { newSecret }: VendorEmulatorDefinition): Promise<string> {
  const path = join(dir, 'secret');
  const known = (await readFileIfExists(path))?.toString('utf8').trim();
  if (known) return known;
  const secret = newSecret().trim();
  await atomicWrite(
    path,
    `${secret}
`,
    { mode: 0o600 },
  );
  return secret;
}

export const mirrored = (vendor: string, definition: VendorEmulatorDefinition): EmulatorDefinition => ({
  nodeNames: 'any',
  publicAddresses: definition.publicAddresses,
  tagsOf: () => ({}),
  open: async (context) => new Mirror(vendor, definition, context, await secretAt(context.dir, definition)),
});

/** `provider`: its name as `--cloud-provider`. Throws `CloudProviderLoadError` where its package is not installed. */
export async function vendorEmulator(vendor: string, provider: string): Promise<EmulatorDefinition> {
  const { default: definition } = (await importVendorModule(provider, 'emulator')) as { default: VendorEmulatorDefinition };
  return mirrored(vendor, definition);
}
