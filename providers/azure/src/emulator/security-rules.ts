// What Azure refuses of the rules of a network security group.
import { Refusal } from 'sagong/cloud-provider/test-server';
import { type Part, partsOf, type Resource } from './resource.ts';

const refuse = (code: string, message: string): never => {
  throw new Refusal(400, code, message);
};

/** Exactly one of the single value and the list. */
function checkOneOf({ name, properties = {} }: Part, one: string, many: string): void {
  const list = (properties[many] as unknown[] | undefined) ?? [];
  const has = [properties[one] !== undefined && properties[one] !== '', list.length > 0];
  if (has[0] === has[1]) refuse('SecurityRuleParameterMissing', `Security rule ${name} must have either ${one} or ${many}.`);
  if (new Set(list).size !== list.length)
    refuse('SecurityRuleDuplicateAddress', `Security rule ${name} has a duplicate in ${many}.`);
}

export function checkSecurityRules(resource: Resource): void {
  const rules = partsOf(resource, 'securityRules');
  const taken = new Map<string, string>();
  for (const rule of rules) {
    const { priority, direction, protocol, access } = (rule.properties ?? {}) as Record<string, unknown>;
    if (typeof priority !== 'number' || priority < 100 || priority > 4_096)
      refuse(
        'SecurityRuleInvalidPriority',
        `Security rule ${rule.name} has invalid Priority. Value provided: ${String(priority)} Allowed range 100-4096.`,
      );
    const key = `${String(direction)} ${String(priority)}`;
    if (taken.has(key))
      refuse(
        'SecurityRuleConflict',
        `Security rule ${rule.name} conflicts with rule ${taken.get(key)}. Rules cannot have the same Priority and Direction.`,
      );
    taken.set(key, rule.name ?? '');
    if (!['Tcp', 'Udp', '*', 'Icmp', 'Esp', 'Ah'].includes(String(protocol)) || !['Allow', 'Deny'].includes(String(access)))
      refuse('SecurityRuleInvalidProtocol', `Security rule ${rule.name} has an invalid protocol or access.`);
    checkOneOf(rule, 'sourceAddressPrefix', 'sourceAddressPrefixes');
    checkOneOf(rule, 'destinationAddressPrefix', 'destinationAddressPrefixes');
    checkOneOf(rule, 'destinationPortRange', 'destinationPortRanges');
  }
  if (rules.length > 1_000) refuse('SecurityRuleLimitExceeded', 'There are too many security rules.');
}
