// Vendors whose packages bring the description of their API: `@sagong/cloud-provider-<vendor>/emulator`.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { importVendorModule } from '#cloud-provider';
import type { VendorEmulatorDefinition } from '#cloud-provider/emulator';
import { atomicWrite, readFileIfExists } from '#host';
import type { EmulatorDefinition } from '../emulator.ts';
import { tokenBytes } from './limits.ts';
import { Mirror } from './mirror.ts';

/** Made once, readable for the owner alone. */
async function tokenAt(dir: string, prefix: string): Promise<string> {
  const path = join(dir, 'token');
  const known = (await readFileIfExists(path))?.toString('utf8').trim();
  if (known) return known;
  const token = `${prefix}${randomBytes(tokenBytes).toString('hex')}`;
  await atomicWrite(path, `${token}\n`, { mode: 0o600 });
  return token;
}

export const mirrored = (vendor: string, definition: VendorEmulatorDefinition): EmulatorDefinition => ({
  nodeNames: 'any',
  publicAddresses: definition.publicAddresses,
  tagsOf: () => ({}),
  open: async (context) => new Mirror(vendor, definition, context, await tokenAt(context.dir, definition.tokenPrefix)),
});

/** `provider`: its name as `--cloud-provider`. Throws `CloudProviderLoadError` where its package is not installed. */
export async function vendorEmulator(vendor: string, provider: string): Promise<EmulatorDefinition> {
  const { default: definition } = (await importVendorModule(provider, 'emulator')) as { default: VendorEmulatorDefinition };
  return mirrored(vendor, definition);
}
