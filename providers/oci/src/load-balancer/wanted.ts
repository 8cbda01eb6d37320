// The plan of a Service with what is there outside of it: nodes, subnets, certificates.
import type { Node } from 'sagong/cloud-provider';
import { nameFor, read } from '../annotations.ts';
import type { Subnet } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { backendSetsOf } from './backends.ts';
import { readCertificates } from './certificates.ts';
import type { Wanted } from './changes.ts';
import { selected } from './node-selector.ts';
import type { BalancerPlan } from './plan.ts';
import { type Family, listenersOf } from './ports.ts';
import { familiesIn } from './subnets.ts';

export interface FullPlan extends BalancerPlan {
  subnets: Subnet[];
  families: Family[];
  nodes: readonly Node[];
  wanted: Wanted;
}

/** Names that `certificateName` gives. */
const ownCertificate = ({ tls }: BalancerPlan) => {
  const secrets = [tls.listener?.name, tls.backendSet?.name].filter((name) => name !== undefined);
  return (name: string): boolean =>
    secrets.some((secret) => name.startsWith(`${secret}-`) && /^[\da-f]{10}$/.test(name.slice(secret.length + 1)));
};

export const nodesFor = ({ kind, service }: BalancerPlan, nodes: readonly Node[]): readonly Node[] => {
  const name = nameFor(kind, 'nodeSelector');
  return selected(nodes, read(service).text(name), name);
};

export async function fullPlan(
  cloud: Cloud,
  plan: BalancerPlan,
  nodes: readonly Node[],
  subnetIds: readonly string[],
): Promise<FullPlan> {
  const { kind, service, ports } = plan;
  const chosen = nodesFor(plan, nodes);
  const subnets = await cloud.subnets.all(subnetIds, cloud.signal);
  const families = familiesIn(plan, subnets);
  const { tls, certificates } = await readCertificates(cloud, plan.tls);
  const withTls = { ...plan, tls };
  const wanted: Wanted = {
    listeners: listenersOf(service, { kind, ports, tls, ruleSets: Object.keys(plan.ruleSets ?? {}).toSorted(), families }),
    backendSets: backendSetsOf(withTls, chosen, families),
    certificates,
    ...(plan.ruleSets && { ruleSets: plan.ruleSets }),
    isOwnCertificate: ownCertificate(plan),
  };
  return { ...withTls, subnets, families, nodes: chosen, wanted };
}
