// Chain names in upstream's form (pkg/proxy/iptables): a prefix and 16 characters of a base32 SHA-256, because chain names are short.
import { createHash } from 'node:crypto';
import type { ServicePort } from './model.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const suffixLength = 16;

function base32(bytes: Uint8Array, length: number): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5 && text.length < length) {
      bits -= 5;
      text += alphabet[(value >>> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return text;
}

const hashed = (prefix: string, text: string): string =>
  prefix + base32(createHash('sha256').update(text).digest(), suffixLength);

export interface ServiceChains {
  /** Endpoints under policy Cluster. */
  cluster: string;
  /** Endpoints under policy Local. */
  local: string;
  /** Traffic to node ports, external and load balancer addresses. */
  external: string;
  /** Load balancer source ranges. */
  firewall: string;
}

export function serviceChains({ name, protocol }: ServicePort): ServiceChains {
  const id = name + protocol.toLowerCase();
  return {
    cluster: hashed('KUBE-SVC-', id),
    local: hashed('KUBE-SVL-', id),
    external: hashed('KUBE-EXT-', id),
    firewall: hashed('KUBE-FW-', id),
  };
}

export const endpointChain = ({ name, protocol }: ServicePort, address: string): string =>
  hashed('KUBE-SEP-', name + protocol.toLowerCase() + address);
