// Who may reach a load balancer: `spec.loadBalancerSourceRanges`, else the rules of annotations.
import type { Service } from 'sagong/cloud-provider';
import { canonicalRange } from 'sagong/cloud-provider/kit';
import { annotations, listOf, quoted } from '../annotations.ts';

function sourceRules({ spec }: Service): string[] {
  const ranges = spec?.loadBalancerSourceRanges ?? [];
  return ranges.map((range) => {
    const network = canonicalRange(range.trim());
    if (network === undefined)
      throw new Error(
        'failed to get source range rules: failed to parse spec.loadBalancerSourceRanges ' +
          `[${ranges.map(quoted).join(' ')}]: invalid CIDR address: ${range} (expected format for an IP address is 10.0.0.0/24)`,
      );
    return `cidr:${network}`;
  });
}

/** The rules of who may reach a load balancer. Throws for a text that is not a range. */
export function accessRules(service: Service): { allow: string[]; deny: string[] } {
  const fromSpec = sourceRules(service);
  return {
    allow: fromSpec.length > 0 ? fromSpec : listOf(service, annotations.allowRules),
    deny: listOf(service, annotations.denyRules),
  };
}
