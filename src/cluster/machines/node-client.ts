// A joined machine as the cluster sees it: its own Node, with the right of its kubelet.
import { existsSync } from 'node:fs';
import { type ClientConfig, createClient, createRestTransport, type KubeClient, loadClientConfig } from '#client';
import { userAgent } from '#component-base';
import type { Clock } from '#utils';
import type { Dial } from '#wire';
import { machinePaths } from './machine.ts';
import { dialFirst, keptWays, waysOf } from '../nodes/ways.ts';

export const nodesResource = { group: '', version: 'v1', resource: 'nodes' };

/** How this machine's kubelet connects to the apiserver; undefined while it has no identity. */
export function nodeConfig(dir: string): ClientConfig | undefined {
  const { kubeconfig } = machinePaths(dir);
  return existsSync(kubeconfig) ? loadClientConfig(kubeconfig, {}) : undefined;
}

/**
 * A client with the kubelet's identity, at `server` or at the first address on which an apiserver answers. Undefined while the machine has no
 * identity.
 */
export function nodeClient(dir: string, clock: Clock, server?: string): KubeClient | undefined {
  const config = nodeConfig(dir);
  if (!config) return undefined;
  const transport = { config, clock, userAgent: userAgent('sagong') };
  if (server !== undefined) return createClient(createRestTransport({ ...transport, config: { ...config, server } }));
  return createClient(createRestTransport({ ...transport, dial: nodeDial(dir, config, clock) }));
}

/** Connects a node's client by the first address at which an apiserver answers. */
export const nodeDial = (dir: string, { server }: ClientConfig, clock: Clock): Dial =>
  dialFirst(async () => waysOf(server, await keptWays(machinePaths(dir).apiservers)), clock);
