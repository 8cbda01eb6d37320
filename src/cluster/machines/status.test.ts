import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { machineStatus } from './status.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'machine-status-'));
});
afterEach(() => rmSync(dir, { recursive: true }));
const write = (name: string, value: object): void => writeFileSync(join(dir, name), JSON.stringify(value));

it('says what a joined machine is, and how to start it', async () => {
  expect(await machineStatus(dir)).toBeUndefined();
  const node = { nodeName: 'near', nodeIp: '10.0.0.2', server: 'https://10.0.0.1:6443', podCidr: '10.244.0.0/16' };
  write('machine.json', node);
  const start = `start it with: sagong join --detach --data-dir ${dir}`;
  expect(await machineStatus(dir)).toEqual({
    text: `The node near of https://10.0.0.1:6443 is stopped; ${start}`,
    running: false,
  });
  write('run.json', { pid: 2 ** 30, startedAtMs: 0, ready: true });
  write('machine.json', { ...node, controlPlane: { cluster: 'big', endpoint: '10.0.0.1:6443', encryptSecrets: false } });
  expect((await machineStatus(dir))?.text).toBe(
    `The node near of https://10.0.0.1:6443, a control plane of big, has crashed: process ${2 ** 30} is gone; ${start}`,
  );
});
