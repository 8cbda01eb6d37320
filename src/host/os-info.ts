// Facts about this machine, as `status.nodeInfo` of a Node and `/version` report them (cadvisor machine info).
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { arch, cpus, hostname, release, totalmem } from 'node:os';

export interface OsInfo {
  hostname: string;
  /** The ID that the kernel gave itself at this boot. */
  bootId: string;
  machineId: string;
  systemUuid: string;
  kernelVersion: string;
  /** PRETTY_NAME of os-release. */
  osImage: string;
  operatingSystem: 'linux' | string;
  /** Go's name: amd64, arm64, ... */
  architecture: string;
  cpus: number;
  memoryBytes: number;
}

function readLine(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

const goArchitectures: Record<string, string> = { x64: 'amd64', ia32: '386', arm64: 'arm64', arm: 'arm', ppc64: 'ppc64le' };

/** The architecture by Go's name, as Kubernetes labels and image manifests use it. */
export const goArchitecture = (): string => goArchitectures[arch()] ?? arch();

/** `value` of NAME=value in os-release(5), without quotes. */
const osRelease = (name: string): string => {
  const line = readLine('/etc/os-release')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}=`));
  return line?.slice(name.length + 1).replace(/^["']|["']$/g, '') ?? '';
};

// Machines without /proc get one id per process: still unique per start, which is what readers of the boot id compare.
let fallbackBootId: string | undefined;

/** The kernel's boot id. */
export function bootId(): string {
  const id = readLine('/proc/sys/kernel/random/boot_id');
  if (id !== '') return id;
  fallbackBootId ??= randomUUID();
  return fallbackBootId;
}

export function osInfo(): OsInfo {
  const machineId = readLine('/etc/machine-id') || readLine('/var/lib/dbus/machine-id');
  return {
    hostname: hostname(),
    bootId: bootId(),
    machineId,
    systemUuid: readLine('/sys/class/dmi/id/product_uuid') || machineId,
    kernelVersion: release(),
    osImage: osRelease('PRETTY_NAME') || 'Unknown',
    operatingSystem: process.platform === 'win32' ? 'windows' : process.platform,
    architecture: goArchitecture(),
    cpus: cpus().length,
    memoryBytes: totalmem(),
  };
}
