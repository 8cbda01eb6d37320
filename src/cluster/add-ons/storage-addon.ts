// Storage as an add-on: the class `standard`, which claims without a class get, and the provisioner behind it, as kind and k3s have them.
import { join } from 'node:path';
import { isAlreadyExists, isNotFound } from '#apimachinery/errors';
import type { StorageClass } from '#api/storage/v1';
import type { KubeClient } from '#client';
import { clusterRoles, storageClasses } from '#controller-runtime/platform';
import { directories, localPathProvisioner, noDirectories, provisionerName } from '#local-path-provisioner';
import type { Clock, Logger, Rng } from '#utils';
import type { PlaneAccess } from '../control-plane.ts';
import { grantClusterRole } from '../objects/grant.ts';
import { identities } from '../certificates/identities.ts';
import { runOwnLoop } from './own-loop.ts';

export interface StorageSetup {
  plane: PlaneAccess;
  /** The cluster's folder; the disks of its nodes are below it. */
  dataDir: string;
  /** The nodes are simulated: volumes have no directories. */
  simulated: boolean;
}

const defaultClassName = 'standard';
const isDefault = 'storageclass.kubernetes.io/is-default-class';
const defaultMarks = [isDefault, 'storageclass.beta.kubernetes.io/is-default-class'];
const name = 'local-path-provisioner';
const role = `system:${name}`;

/** Makes the storage class, as the default unless there is another default. A class of that name stays as it is. */
async function createClass(client: KubeClient): Promise<void> {
  const classes = client.resource<StorageClass>(storageClasses);
  const others = (await classes.list()).items;
  const first = !others.some(({ metadata }) => defaultMarks.some((mark) => metadata.annotations?.[mark] === 'true'));
  const object: StorageClass = {
    metadata: { name: defaultClassName, annotations: { [isDefault]: String(first) } },
    provisioner: provisionerName,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
  };
  await classes.create(object).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

/** Starts the provisioner. Only the first start makes the class, which the role remembers: a class that a user changed or deleted stays so. */
export async function startStorage(
  { plane, dataDir, simulated }: StorageSetup,
  deps: { clock: Clock; rng: Rng; logger: Logger },
): Promise<{ stop(): Promise<void> }> {
  const admin = plane.client(identities.admin, 'sagong');
  const provisioner = localPathProvisioner(
    { nodesDir: join(dataDir, 'nodes'), simulated },
    simulated ? noDirectories : directories,
  );
  const known = await admin
    .resource(clusterRoles)
    .get(role)
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  if (!known) await createClass(admin);
  await grantClusterRole(admin, { role, serviceAccount: name, rules: provisioner.rights });
  return runOwnLoop(plane, name, provisioner, deps);
}
