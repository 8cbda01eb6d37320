// The names of proxy requests: `name`, `name:port`, `scheme:name:port` (k8s.io/apimachinery/pkg/util/net), and which addresses may be reached.
import { BlockList, isIP, isIPv6 } from 'node:net';

export interface ProxyName {
  /** '' or 'http' or 'https'. */
  scheme: string;
  name: string;
  /** A number or a name; '' for none. */
  port: string;
}

/** Undefined for a malformed one. */
export function parseProxyName(id: string): ProxyName | undefined {
  const parts = id.split(':');
  if (parts.length > 3) return undefined;
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts];
  return name !== '' && ['', 'http', 'https'].includes(scheme) ? { scheme, name, port } : undefined;
}

const local = new BlockList();
local.addSubnet('127.0.0.0', 8, 'ipv4');
local.addSubnet('169.254.0.0', 16, 'ipv4');
local.addSubnet('224.0.0.0', 4, 'ipv4');
local.addAddress('0.0.0.0', 'ipv4');
local.addAddress('255.255.255.255', 'ipv4');
local.addAddress('::1', 'ipv6');
local.addAddress('::', 'ipv6');
local.addSubnet('fe80::', 10, 'ipv6');
local.addSubnet('ff00::', 8, 'ipv6');

/** An address that is of one machine only, and so would be the server's own, is not for proxying. */
export const isProxyable = (address: string): boolean =>
  isIP(address) !== 0 && !local.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
