// Provider IDs, `gce://<project>/<zone>/<instance>`, and what a Node says of the place of its instance. Pure.
import { type Node, providerIdOf } from 'sagong/cloud-provider';
import { providerName } from '../names.ts';

export interface InstanceId {
  project: string;
  zone: string;
  name: string;
}

const pattern = new RegExp(`^${providerName}://([^/]+)/([^/]+)/([^/]+)$`);

export const formatProviderId = ({ project, zone, name }: InstanceId): string =>
  providerIdOf(providerName, `${project}/${zone}/${name}`);

/** Throws for the ID of another cloud. */
export function parseProviderId(providerId: string): InstanceId {
  const [, project, zone, name] = pattern.exec(providerId) ?? [];
  if (!project || !zone || !name) throw new Error(`error splitting providerID: ${JSON.stringify(providerId)}`);
  return { project, zone, name };
}

const zoneLabels = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];

/** The zone of a Node, by its provider ID, else by its labels; undefined: it has neither yet. */
export function zoneOfNode({ metadata, spec }: Node): string | undefined {
  const [, , zone] = pattern.exec(spec?.providerID ?? '') ?? [];
  return zone ?? zoneLabels.map((label) => metadata.labels?.[label]).find((value) => value);
}
