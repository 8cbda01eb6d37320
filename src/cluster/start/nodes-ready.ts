// The end of a start with nodes: their kubelets have spoken since they booted, and say that they are Ready.
import type { Node } from '#api/core/v1';
import { createInformerFactory } from '#client';
import { identities } from '../certificates/identities.ts';
import type { PlaneAccess } from '../control-plane.ts';
import type { ClusterSettings } from '../state/settings.ts';
import { isHeardSince, isNodeReadySince, waitFor } from '../state/wait.ts';
import type { UpDeps } from './types.ts';

const nodesReadyTimeoutMs = 90_000;

/** Without a network of pods no node is Ready: it is enough that its kubelet says so. */
export const arrivalOf = ({ cni, runtime }: ClusterSettings) =>
  cni === 'none' && runtime !== 'simulated' ? isHeardSince : isNodeReadySince;

/** Rejects when a node takes too long. `bootTimes`: since when the word of each node's kubelet counts. */
export async function nodesReady(
  plane: PlaneAccess,
  bootTimes: ReadonlyMap<string, number>,
  arrived: (node: Node, sinceMs: number) => boolean,
  deps: UpDeps,
): Promise<void> {
  const informers = createInformerFactory({ ...deps, client: plane.client(identities.admin, 'sagong') });
  const nodes = informers.informer<Node>({ group: '', version: 'v1', resource: 'nodes' });
  informers.start();
  const waiting = (all: readonly Node[]): string[] =>
    [...bootTimes].flatMap(([name, sinceMs]) =>
      all.some((node) => node.metadata.name === name && arrived(node, sinceMs)) ? [] : [name],
    );
  try {
    await informers.waitForSync(deps.signal);
    await waitFor(nodes, (all) => waiting(all).length === 0, {
      clock: deps.clock,
      timeoutMs: nodesReadyTimeoutMs,
      signal: deps.signal,
      complaint: (all) =>
        `not Ready after ${nodesReadyTimeoutMs / 1000} s: ${waiting(all).join(', ')}; see the logs below the cluster's data directory`,
    });
  } finally {
    informers.stop();
  }
}
