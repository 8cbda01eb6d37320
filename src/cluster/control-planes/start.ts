// The control plane on machines at a start: once it answers, its programs get their rights.
import type { Supervisor } from '#component-base';
import type { KubeClient } from '#client';
import type { Secret } from '#api/core/v1';
import type { Clock, Logger } from '#utils';
import type { ClusterPki } from '../certificates/certificates.ts';
import type { PlaneAccess } from '../control-plane.ts';
import { identities } from '../certificates/identities.ts';
import type { ClusterSettings } from '../state/settings.ts';
import { clusterNetworks } from '../state/networks.ts';
import { oncePlaneAnswers, type PlaneAddress, remotePlane } from './plane.ts';
import { grantControlPlanes } from './rights.ts';

export interface RemoteStart {
  settings: Pick<ClusterSettings, 'podCidr' | 'encryptSecrets'>;
  pki: ClusterPki;
  at: PlaneAddress;
  supervisor: Supervisor;
}

interface Deps {
  clock: Clock;
  logger: Logger;
  signal?: AbortSignal;
}

export async function startRemotePlane({ settings, pki, at, supervisor }: RemoteStart, deps: Deps): Promise<PlaneAccess> {
  const { podCidr = clusterNetworks.podCidr, encryptSecrets } = settings;
  const plane = remotePlane({ pki, at, podCidr, supervisor }, deps);
  const admin = plane.client(identities.admin, 'sagong');
  const prepare = async (): Promise<void> => {
    await admin.resource({ group: '', version: 'v1', resource: 'namespaces' }).get('kube-system');
    await grantControlPlanes(admin);
    if (encryptSecrets) await rewriteSecrets(admin, deps.logger);
  };
  try {
    await oncePlaneAnswers(prepare, deps);
  } finally {
    admin.close();
  }
  return plane;
}

/** Writes them again as they are: what was stored before there was a key is encrypted then. */
async function rewriteSecrets(client: KubeClient, logger: Logger): Promise<void> {
  const resource = { group: '', version: 'v1', resource: 'secrets' };
  for (const secret of (await client.resource<Secret>(resource).list()).items) {
    const { namespace = '', name = '' } = secret.metadata;
    await client
      .resource<Secret>(resource, namespace)
      .update(secret)
      .catch((error: unknown) =>
        logger.warn('a Secret stays in the store as it was written', { namespace, name, err: (error as Error).message }),
      );
  }
}
