// `--node-ip` and `--cloud-provider` as the kubelet understands them (k8s.io/component-helpers/node/util ParseNodeIPArgument, KEP-3705;
// k8s.io/cloud-provider ErrorForDisabledProvider, KEP-2395). Pure.
import { type IPAddress, parseIP } from '#apimachinery/validation';
import { quote } from '#utils';

const isUnspecified = ({ value }: IPAddress): boolean => value === 0n;

/** Whether an address says which one it is: `0.0.0.0` and `::` only name a family. */
export function isSpecific(address: string | undefined): boolean {
  const ip = address === undefined ? undefined : parseIP(address);
  return ip !== undefined && !isUnspecified(ip);
}

/** Reads `--node-ip`: one address, or one of each family. Values that are no addresses are left out. Throws an Error with upstream's text. */
export function parseNodeIPs(text: string): string[] {
  const named = text.split(',').flatMap((word) => {
    const ip = parseIP(word.trim());
    return ip ? [{ ip, word: word.trim() }] : [];
  });
  const refuse = (why: string): Error => new Error(`bad --node-ip ${quote(text)}: ${why}`);
  const [first, second] = named;
  if (named.length > 2 || (first && second && first.ip.family === second.ip.family))
    throw refuse('must contain either a single IP or a dual-stack pair of IPs');
  if (first && second && (isUnspecified(first.ip) || isUnspecified(second.ip)))
    throw refuse("dual-stack node IP cannot include '0.0.0.0' or '::'");
  return named.map(({ word }) => word);
}

/** Reads `--cloud-provider`. Throws an Error with upstream's text for a name of the providers that were once built in. */
export function parseCloudProvider(name: string): '' | 'external' {
  if (name === '' || name === 'external') return name;
  throw new Error(
    `failed to run Kubelet: failed to create kubelet: cloud provider ${quote(name)} was specified, but built-in cloud providers are disabled. Please set --cloud-provider=external and migrate to an external cloud provider`,
  );
}
