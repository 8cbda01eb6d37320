import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeClient } from '#client';
import { systemClock } from '#host';
import { adminClient, removeNode } from './nodes-away.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'nodes-away-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const machine = JSON.stringify({
  nodeName: 'here',
  nodeIp: '10.0.0.1',
  server: 'https://10.0.0.1:6443',
  podCidr: '10.244.0.0/16',
});

describe('the machine that is asked to remove itself', () => {
  it.each([
    ['joined', '.'],
    ['is the first one', 'machine'],
  ])('refuses it before anything is done, where it has %s', async (_, folder) => {
    mkdirSync(join(dir, folder), { recursive: true });
    writeFileSync(join(dir, folder, 'machine.json'), machine);
    const untouched = new Proxy({} as KubeClient, {
      get: () => {
        throw new Error('the cluster was asked');
      },
    });
    const said: string[] = [];
    const removed = removeNode(untouched, 'here', dir, systemClock(), (text) => said.push(text));
    await expect(removed).rejects.toThrow('here is this machine: sagong leave takes it out');
    expect(said).toEqual([]);
    await expect(removeNode(untouched, 'there', dir, systemClock(), () => {})).rejects.toThrow('the cluster was asked');
  });
});

describe('the administrator of a cluster', () => {
  it('is refused in a sentence where there is no cluster, or a node alone', () => {
    expect(() => adminClient(dir, systemClock())).toThrow(`there is no cluster in ${dir}`);
    writeFileSync(join(dir, 'machine.json'), machine);
    expect(() => adminClient(dir, systemClock())).toThrow(`the machine in ${dir} is a node alone`);
  });
});
