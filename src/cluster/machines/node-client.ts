// A joined machine as the cluster sees it: its own Node, with the right of its kubelet.
import { existsSync } from 'node:fs';
import { type ClientConfig, createClient, createRestTransport, type KubeClient, loadClientConfig } from '#client';
import { userAgent } from '#component-base';
import type { Clock } from '#utils';
import { machinePaths } from './machine.ts';

export const nodesResource = { group: '', version: 'v1', resource: 'nodes' };

/** Undefined while the kubelet has no identity. */
export function nodeConfig(dir: string): ClientConfig | undefined {
  const { kubeconfig } = machinePaths(dir);
  return existsSync(kubeconfig) ? loadClientConfig(kubeconfig, {}) : undefined;
}

/** As the kubelet; `server`: another one than its own. Undefined while it has no identity. */
export function nodeClient(dir: string, clock: Clock, server?: string): KubeClient | undefined {
  const config = nodeConfig(dir);
  if (!config) return undefined;
  const at = { ...config, ...(server !== undefined && { server }) };
  return createClient(createRestTransport({ config: at, clock, userAgent: userAgent('sagong') }));
}
