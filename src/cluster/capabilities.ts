// What this machine can do: real nodes, or simulated ones, and what is missing for real ones.
import { accessSync, constants, existsSync } from 'node:fs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const programs = ['containerd', 'ctr', 'runc', 'ip', 'nsenter', 'unshare', 'iptables', 'iptables-restore', 'mount'];
const cniDirs = ['/usr/lib/cni', '/opt/cni/bin', '/usr/libexec/cni'];
const cniPlugins = ['bridge', 'host-local', 'portmap', 'loopback'];
const searchPath = (): string[] => [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin'];

export function findProgram(name: string): string | undefined {
  for (const dir of searchPath()) {
    try {
      accessSync(join(dir, name), constants.X_OK);
      return join(dir, name);
    } catch {
      // Not here.
    }
  }
  return undefined;
}

/** The folder with all CNI plugins that a node needs. */
export const findCniDir = (): string | undefined =>
  cniDirs.find((dir) => cniPlugins.every((plugin) => existsSync(join(dir, plugin))));

/** Why real nodes cannot run here; empty when they can. */
export async function obstacles(): Promise<string[]> {
  if (process.platform !== 'linux') return [`this is ${process.platform}, not Linux`];
  const found: string[] = [];
  if (process.getuid?.() !== 0) found.push('not root');
  const missing = programs.filter((name) => !findProgram(name));
  if (missing.length > 0) found.push(`missing programs: ${missing.join(', ')}`);
  if (!findCniDir()) found.push(`missing CNI plugins (${cniPlugins.join(', ')}) in ${cniDirs.join(', ')}`);
  try {
    const { cgroupLayout } = await import('#cloud/machine');
    cgroupLayout();
  } catch (error) {
    found.push((error as Error).message);
  }
  return found;
}

const capSysResource = 1n << 24n;

/** Whether this process has CAP_SYS_RESOURCE, without which no process may lower its oom_score_adj. */
export function hasSysResource(): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return effective !== undefined && (BigInt(`0x${effective}`) & capSysResource) !== 0n;
}
