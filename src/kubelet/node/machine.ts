// Facts of the machine that the kubelet runs on, and what follows from them for the node.
import { statfs } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { osInfo } from '#host';
import type { KubeletOptions } from '../options.ts';
import type { Machine } from './status.ts';

/** What this machine has, the size of its disk included. */
export async function thisMachine(rootDir: string): Promise<Machine> {
  const info = osInfo();
  const disk = await statfs(rootDir).catch(() => undefined);
  return {
    machineId: info.machineId,
    systemUuid: info.systemUuid,
    bootId: info.bootId,
    kernelVersion: info.kernelVersion,
    osImage: info.osImage,
    operatingSystem: info.operatingSystem,
    architecture: info.architecture,
    cpuMillis: info.cpus * 1000,
    memoryBytes: info.memoryBytes,
    ...(disk && { ephemeralStorageBytes: disk.blocks * disk.bsize }),
  };
}

/** The machine's first address that others can reach: IPv4 where there is one, unless `--node-ip` is `::`. */
function ownAddress([wanted]: readonly string[]): string[] {
  const preferred = wanted === '::' ? 'IPv6' : 'IPv4';
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const usable = all.filter(({ internal, scopeid = 0 }) => !internal && scopeid === 0);
  const found = [...usable, ...all].find(({ family }) => family === preferred) ?? usable[0];
  return found ? [found.address] : [];
}

/** The options with what only the machine can say: its addresses, and what eviction keeps for the system (upstream node allocatable). */
export function optionsOn(machine: Machine, options: KubeletOptions): KubeletOptions {
  const { hard } = options.eviction;
  const amount = (signal: string, capacity: number | undefined): string | undefined => {
    const text = hard[signal];
    if (text === undefined || capacity === undefined) return undefined;
    return text.endsWith('%') ? String(Math.floor((capacity * Number.parseFloat(text)) / 100)) : text;
  };
  const memory = amount('memory.available', machine.memoryBytes);
  const storage = amount('nodefs.available', machine.ephemeralStorageBytes);
  return {
    ...options,
    reserved: { ...(memory && { memory }), ...(storage && { 'ephemeral-storage': storage }), ...options.reserved },
    ownIPs: options.ownIPs.length > 0 ? options.ownIPs : ownAddress(options.nodeIPs),
  };
}
