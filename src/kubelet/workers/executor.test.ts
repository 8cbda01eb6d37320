import { describe, expect, it } from 'vitest';
import type { SandboxRecord } from '../container/types.ts';
import { recordOf } from '../runtime/containerd/records.ts';
import { stopSandboxes } from './executor.ts';

const sandbox = (attempt: number, ready: boolean, createdAtMs = 0): SandboxRecord => ({
  id: `s${attempt}`,
  ready,
  attempt,
  createdAtMs,
  hostNetwork: false,
  ips: [],
});
const record = (...sandboxes: SandboxRecord[]) => recordOf({ uid: 'u', namespace: 'ns', name: 'p' }, sandboxes, []);

describe('sandboxes of a pod that is stopped', () => {
  it('are all stopped, also those that are not ready or whose neighbour cannot be stopped', async () => {
    const stopped: string[] = [];
    const stopSandbox = (id: string): Promise<void> => {
      stopped.push(id);
      return id === 's1' ? Promise.reject(new Error('failed to destroy network')) : Promise.resolve();
    };
    const stopping = stopSandboxes({ stopSandbox }, record(sandbox(0, true), sandbox(1, false)));
    await expect(stopping).rejects.toThrow('failed to destroy network');
    expect(stopped).toEqual(['s1', 's0']);
  });
  it('are newest by their attempt, also where one that never ran has no time of creation', () => {
    const { sandboxes } = record(sandbox(1, false, -6_795_364_578_871), sandbox(0, false, 1_700_000_000_000));
    expect(sandboxes.map(({ attempt }) => attempt)).toEqual([1, 0]);
  });
});
