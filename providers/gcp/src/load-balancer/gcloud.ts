// The commands for changes of firewalls that only an administrator of the network may make, in upstream's form. Pure.
import type { Firewall, FirewallPorts } from '../api/types.ts';
import { nameIn } from '../links.ts';

const specs = (rules: readonly FirewallPorts[]): string =>
  rules
    .flatMap(({ IPProtocol = '', ports = [] }) =>
      ports.length === 0 ? [IPProtocol] : ports.map((port) => `${IPProtocol}:${port}`),
    )
    .sort()
    .join(',');

const list = (flag: string, values: readonly string[] = []): string[] =>
  values.length === 0 ? [] : [`${flag} ${[...values].sort().join(',')}`];

/** Creates the rule; `gcloud compute firewall-rules update` takes the same arguments but for the network. */
export function firewallCommand(rule: Firewall, project: string): string {
  const { name, network, description = '', allowed = [], denied = [], priority } = rule;
  return [
    `gcloud compute firewall-rules create ${name} --network ${nameIn(network)} --description ${JSON.stringify(description)}`,
    ...(allowed.length > 0 ? [`--allow ${specs(allowed)}`] : []),
    ...(denied.length > 0 ? [`--deny ${specs(denied)}`] : []),
    ...list('--source-ranges', rule.sourceRanges),
    ...list('--destination-ranges', rule.destinationRanges),
    ...list('--target-tags', rule.targetTags),
    ...(priority ? [`--priority ${priority}`] : []),
    `--project ${project}`,
  ].join(' ');
}

export const firewallDeletion = (name: string, project: string): string =>
  `gcloud compute firewall-rules delete ${name} --project ${project}`;
