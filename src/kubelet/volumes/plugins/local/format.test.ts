import { expect, it } from 'vitest';
import type { Exec } from '#utils';
import { formatAndMount } from './format.ts';

const mount = { device: '/dev/x', target: '/t', fsType: 'ext4', options: ['noatime'], readOnly: false };

/** A machine where blkid says `found`, and mount ends with `code`; keeps what was run. */
function machine(found: string | undefined, code = 0): { exec: Exec; run: string[] } {
  const run: string[] = [];
  const exec: Exec = (command, args) => {
    run.push([command, ...args].join(' '));
    if (command === 'blkid') return Promise.resolve({ code: found === undefined ? 2 : 0, stdout: found ?? '', stderr: '' });
    return Promise.resolve({ code: command === 'mount' ? code : 0, stdout: '', stderr: code === 0 ? '' : 'wrong fs type' });
  };
  return { exec, run };
}

it('formats a device with nothing on it, and mounts it', async () => {
  const { exec, run } = machine(undefined);
  await formatAndMount(exec, mount);
  expect(run.slice(1)).toEqual(['mkfs.ext4 -F -m0 /dev/x', 'mount -t ext4 -o noatime,defaults /dev/x /t']);
});

it('mounts what is on a device as it is', async () => {
  const { exec, run } = machine('DEVNAME=/dev/x\nTYPE=ext4\n');
  await formatAndMount(exec, { ...mount, readOnly: true });
  expect(run.slice(1)).toEqual(['mount -t ext4 -o noatime,ro,defaults /dev/x /t']);
});

it.each([
  ['TYPE=xfs\n', 'failed to mount the volume as "ext4", it already contains xfs. Mount error: wrong fs type'],
  ['PTTYPE=gpt\n', 'it already contains unknown data, probably partitions'],
  ['TYPE=ext4\n', 'mount failed: wrong fs type'],
])('formats nothing that has something on it: %j', async (found, message) => {
  const { exec, run } = machine(found, 32);
  await expect(formatAndMount(exec, mount)).rejects.toThrow(message);
  expect(run.some((line) => line.startsWith('mkfs'))).toBe(false);
});

it('formats nothing for somebody who only reads', async () => {
  const { exec } = machine(undefined);
  await expect(formatAndMount(exec, { ...mount, readOnly: true })).rejects.toThrow(
    'cannot mount unformatted disk /dev/x as it is in read-only mode',
  );
});
