import { describe, expect, it } from 'vitest';
import type { ClusterSettings } from '../state/settings.ts';
import { controlPlanesOfStart } from './choice.ts';

const given = { name: 'sagong', runtime: 'auto' as const };
const before = (controlPlanes?: string[]): ClusterSettings => ({
  ...{ name: 'sagong', dataDir: '/d', nodes: [], runtime: 'containerd', port: 0 },
  ...(controlPlanes && { controlPlanes }),
});

describe('machines of the control plane', () => {
  it('are none unless asked for', () => {
    expect(controlPlanesOfStart(given, undefined)).toBeUndefined();
    expect(controlPlanesOfStart(given, before())).toBeUndefined();
  });
  it.each([
    [{ controlPlanes: 2 }, undefined, '--control-planes must be one of 1, 3, 5, not 2'],
    [{ controlPlanes: 0 }, undefined, '--control-planes must be one of 1, 3, 5, not 0'],
    [{ controlPlanes: 3 }, before(), 'this cluster has no control-plane machines, which cannot change'],
    [{ controlPlanes: 1 }, before(['a', 'b', 'c']), 'this cluster has 3 control-plane machines'],
    [{ controlPlanes: 1, topology: 'managed' as const }, undefined, 'a managed control plane needs 3 or 5 machines'],
    [
      { controlPlanes: 3, layout: 'pods' as const, topology: 'managed' as const },
      undefined,
      '--layout pods cannot be used with --topology managed',
    ],
    [{ port: 6443 }, before(['a']), '--port cannot be used with --control-planes'],
    [{ layout: 'pods' as const, quotaBytes: 1 }, undefined, '--quota-backend-bytes cannot be used with --layout pods'],
    [
      { layout: 'pods' as const, audit: { policyFile: '/p', logPath: '/l' } },
      undefined,
      '--audit-policy-file cannot be used with --layout pods',
    ],
    [{ controlPlanes: 3, runtime: 'simulated' as const }, undefined, '--runtime simulated cannot be used'],
  ])('%o is refused', (more, was, message) => {
    expect(() => controlPlanesOfStart({ ...given, ...more }, was)).toThrow(message);
  });
});
