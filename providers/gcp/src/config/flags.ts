// Flags on the manager's command line, those of the gce manager (cloud-provider-gcp cmd/cloud-controller-manager, gce_loadbalancer.go).
import type { ProviderFlags, ProviderFlagValues } from 'sagong/cloud-provider';
import { defaultFlagValues } from 'sagong/cloud-provider';

const section = 'GCE Cloud Provider';
const bool = (name: string, help: string) => ({ name, type: 'bool', default: false, section, help }) as const;

export const flags = {
  lbSourceRanges: {
    name: 'cloud-provider-gce-lb-src-cidrs',
    type: 'strings',
    default: ['130.211.0.0/22', '209.85.152.0/22', '209.85.204.0/22', '35.191.0.0/16'],
    section,
    help: 'CIDRs opened in GCE firewall for L4 LB traffic proxy & health checks',
  },
  l7SourceRanges: {
    name: 'cloud-provider-gce-l7lb-src-cidrs',
    type: 'strings',
    default: ['130.211.0.0/22', '35.191.0.0/16'],
    section,
    help: 'CIDRs opened in GCE firewall for L7 LB traffic proxy & health checks. Has no effect here: there are no L7 load balancers.',
  },
  multiProject: bool(
    'enable-multi-project',
    'Enables project selection from Node providerID for GCE API calls. CAUTION: Only enable if Node providerID is configured by a trusted source.',
  ),
  rbsByDefault: bool('enable-rbs-default-l4-netlb', 'Enables RBS defaulting for GCE L4 NetLB'),
  annotate: bool('enable-l4-lb-annotations', 'Enables Annotations for GCE L4 LB Services'),
  denyFirewall: bool(
    'enable-l4-deny-firewall',
    'Enable creation and updates of Deny VPC Firewall Rules for L4 external load balancers. Requires --enable-l4-deny-firewall-rollback-cleanup to be true.',
  ),
  denyFirewallCleanup: bool(
    'enable-l4-deny-firewall-rollback-cleanup',
    'Enable cleanup codepath of the deny firewalls for rollback.',
  ),
  fineGrainedLocks: bool(
    'enable-l4-ilb-fine-grained-lock',
    'Enable resource-specific locking for L4 ILB. Has no effect here: locks are always those of single resources.',
  ),
} satisfies ProviderFlags;

export interface FlagValues {
  lbSourceRanges: string[];
  multiProject: boolean;
  rbsByDefault: boolean;
  annotate: boolean;
  denyFirewall: boolean;
  denyFirewallCleanup: boolean;
}

/** Throws for flags that contradict each other. */
export function flagValuesOf(given: ProviderFlagValues | undefined): FlagValues {
  const values = { ...defaultFlagValues(flags), ...given } as unknown as FlagValues;
  if (values.denyFirewall && !values.denyFirewallCleanup)
    throw new Error('enable-l4-deny-firewall requires enable-l4-deny-firewall-rollback-cleanup to be true');
  for (const range of values.lbSourceRanges)
    if (!/^[\d.]+\/\d{1,2}$/.test(range))
      throw new Error(`--cloud-provider-gce-lb-src-cidrs: not a range: ${JSON.stringify(range)}`);
  return values;
}
