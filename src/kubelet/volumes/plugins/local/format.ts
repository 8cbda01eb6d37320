// The file system of a device: detected, made where the device has none, and mounted (k8s.io/mount-utils SafeFormatAndMount).
import type { Exec } from '#utils';
import { formatDeviceMs, mountDeviceMs } from '../../../limits.ts';

export interface DeviceMount {
  device: string;
  target: string;
  fsType: string;
  options: readonly string[];
  readOnly: boolean;
}

/** What blkid(8) exits with where it finds nothing. */
const nothingFound = 2;
const unknownData = 'unknown data, probably partitions';

/** The name of what is on the device; empty: nothing is. */
async function formatOf(exec: Exec, device: string): Promise<string> {
  const args = ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', device];
  const { code, stdout, stderr } = await exec('blkid', args, { timeoutMs: mountDeviceMs });
  if (code === nothingFound) return '';
  if (code !== 0) throw new Error(`could not determine the format of ${device}: ${stderr.trim() || `exit status ${code}`}`);
  const found = new Map(stdout.split('\n').map((line) => line.split('=', 2) as [string, string]));
  return found.has('PTTYPE') ? unknownData : (found.get('TYPE') ?? '');
}

/** Never touches what is on a device: only one with nothing on it is formatted. */
export async function formatAndMount(exec: Exec, { device, target, fsType, options, readOnly }: DeviceMount): Promise<void> {
  const existing = await formatOf(exec, device);
  if (existing === '') {
    if (readOnly) throw new Error(`cannot mount unformatted disk ${device} as it is in read-only mode`);
    const force = fsType.startsWith('ext') ? ['-F', '-m0'] : fsType === 'xfs' || fsType === 'btrfs' ? ['-f'] : [];
    const made = await exec(`mkfs.${fsType}`, [...force, device], { timeoutMs: formatDeviceMs });
    if (made.code !== 0) throw new Error(`format of disk ${device} failed: type:(${fsType}) ${made.stderr.trim()}`);
  }
  const words = ['-t', fsType, '-o', [...options, ...(readOnly ? ['ro'] : []), 'defaults'].join(','), device, target];
  const { code, stderr } = await exec('mount', words, { timeoutMs: mountDeviceMs });
  if (code === 0) return;
  const reason = stderr.trim() || `exit status ${code}`;
  if (existing === '' || existing === fsType) throw new Error(`mount failed: ${reason}`);
  throw new Error(
    `failed to mount the volume as ${JSON.stringify(fsType)}, it already contains ${existing}. Mount error: ${reason}`,
  );
}
