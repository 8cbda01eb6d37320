// Who may reach a load balancer: `spec.loadBalancerSourceRanges`, else the rules of annotations.
import { isIPv4, isIPv6 } from 'node:net';
import type { Service } from 'sagong/cloud-provider';
import { annotations, listOf, quoted } from '../annotations.ts';

/** The network that an address range names: host bits are cleared, as Go's net.IPNet prints it. Undefined: no range. */
function networkOfRange(range: string): string | undefined {
  const [address = '', bits = '', ...more] = range.split('/');
  if (more.length > 0 || !/^\d{1,3}$/.test(bits)) return undefined;
  const prefix = Number(bits);
  if (isIPv4(address) && prefix <= 32) {
    const value = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
    const size = 2 ** (32 - prefix);
    const first = value - (value % size);
    return `${[24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256).join('.')}/${prefix}`;
  }
  return isIPv6(address) && prefix <= 128 ? `${address.toLowerCase()}/${prefix}` : undefined;
}

function sourceRules({ spec }: Service): string[] {
  const ranges = spec?.loadBalancerSourceRanges ?? [];
  return ranges.map((range) => {
    const network = networkOfRange(range.trim());
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
