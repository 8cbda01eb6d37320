// Where nodes pull images from before they ask the registry in an image's name: `<certs.d>/<registry>/hosts.toml`, read by containerd at every
// pull (https://github.com/containerd/containerd/blob/main/docs/hosts.md).
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWrite } from '#host';

export interface RegistryMirror {
  /** `docker.io`, `10.0.0.1:5000`; `_default` stands for every registry without one of its own. */
  registry: string;
  url: string;
}

/** Reads `[registry=]url`. Throws a sentence for anything else. */
export function parseRegistryMirror(text: string): RegistryMirror {
  const at = text.indexOf('=');
  const registry = at < 0 ? '_default' : text.slice(0, at);
  const url = URL.canParse(text.slice(at + 1)) ? new URL(text.slice(at + 1)) : undefined;
  if (!/^[\w.:-]+$/.test(registry) || !url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new Error(`a registry mirror is [registry=]http(s)://host[:port], not ${JSON.stringify(text)}`);
  return { registry, url: url.href.replace(/\/$/, '') };
}

/** Names of the machine itself: what stands behind them here is no registry on the node. */
const isLoopback = (registry: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+)(:\d+)?$/.test(registry);

/** The text for containerd. Without a `server` it asks the registry itself for what the mirror does not have. */
export function hostsToml({ registry, url }: RegistryMirror): string {
  const server = isLoopback(registry) ? `server = ${JSON.stringify(url)}\n` : '';
  return `${server}[host.${JSON.stringify(url)}]\n  capabilities = ["pull", "resolve"]\n`;
}

/** Makes containerd's folder of registries name these mirrors and no others. */
export async function writeRegistryMirrors(certsDir: string, mirrors: readonly RegistryMirror[]): Promise<void> {
  await rm(certsDir, { recursive: true, force: true });
  await mkdir(certsDir, { recursive: true });
  for (const mirror of mirrors) {
    await mkdir(join(certsDir, mirror.registry), { recursive: true });
    await atomicWrite(join(certsDir, mirror.registry, 'hosts.toml'), hostsToml(mirror), { mode: 0o644 });
  }
}
