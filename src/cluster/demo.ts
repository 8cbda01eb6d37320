// The demo of `npm start`: an image made on this machine, loaded into every node, and a manifest applied.
import { readFile } from 'node:fs/promises';
import { builtinResources } from '#api';
import type { Deployment } from '#api/apps/v1';
import { parseApiVersion } from '#apimachinery/meta';
import { createInformerFactory } from '#client';
import { systemRng } from '#host';
import { type Clock, silentLogger } from '#utils';
import { parseAllDocuments } from 'yaml';
import { type Applied, applyObjects } from './objects/apply.ts';
import { findProgram } from './capabilities.ts';
import { buildBusyboxImage } from './images/index.ts';
import { identities } from './certificates/identities.ts';
import type { Progress } from './terminal/progress.ts';
import type { RunningCluster } from './start/types.ts';
import { waitFor } from './state/wait.ts';

export interface DemoOptions {
  progress: Progress;
  clock: Clock;
  signal: AbortSignal;
  /** The manifest. */
  file: string;
}

export const demoImage = 'sagong.local/demo:1';
const demoTimeoutMs = 60_000;

/** Resolves when the demo's Deployment is available. */
export async function runDemo(cluster: RunningCluster, { progress, clock, signal, file }: DemoOptions): Promise<void> {
  const { nodes, plane, settings } = cluster;
  if (settings.nodes.length === 0) throw new Error('the demo needs at least one node');
  if (nodes) {
    const busyboxPath = findProgram('busybox');
    if (!busyboxPath) throw new Error('the demo image needs a static busybox (Debian: apt-get install busybox-static)');
    await progress.step(`demo image ${demoImage}`, async () =>
      nodes.importImage(await buildBusyboxImage({ busyboxPath, reference: demoImage })),
    );
  }
  const client = plane.client(identities.admin, 'sagong');
  const documents = parseAllDocuments(await readFile(file, 'utf8')).map((document) => document.toJS() as Applied);
  await applyObjects(
    client,
    documents.map((object) => ({
      resource: resourceOf(object),
      object: { ...object, metadata: { namespace: 'default', ...object.metadata } },
    })),
  );
  const informers = createInformerFactory({ client, clock, rng: systemRng(), logger: silentLogger });
  const deployments = informers.informer<Deployment>(
    { group: 'apps', version: 'v1', resource: 'deployments' },
    { namespace: 'default', fieldSelector: 'metadata.name=hello' },
  );
  informers.start();
  try {
    await informers.waitForSync(signal);
    await progress.step('demo: 4 pods Running', () =>
      waitFor(deployments, (all) => all.some(({ spec, status }) => (status?.availableReplicas ?? 0) >= (spec?.replicas ?? 1)), {
        clock,
        timeoutMs: demoTimeoutMs,
        signal,
        complaint: () => 'the demo pods are not Running; see: kubectl describe pods',
      }),
    );
  } finally {
    informers.stop();
  }
}

function resourceOf({ apiVersion, kind }: Applied): string {
  const { group, version } = parseApiVersion(apiVersion);
  const fact = builtinResources().find((one) => one.group === group && one.version === version && one.kind.kind === kind);
  if (!fact) throw new Error(`no resource for ${apiVersion} ${kind}`);
  return fact.resource;
}
