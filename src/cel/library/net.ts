// IP addresses, prefixes and URLs (k8s.io/apiserver/pkg/cel/library: ip, cidr, urls).
import { cidrText, type IPAddress, type IPPrefix, ipText, parseCIDR, parseIP } from '#apimachinery/validation';
import { global, member } from '../check/environment.ts';
import { rewriteCost, textCost } from '../run/call-costs.ts';
import { CelError } from '../errors.ts';
import { readTextCharsMax } from '../limits.ts';
import { spendWork } from '../meter.ts';
import { bool, int, list, map, opaque, string } from '../types.ts';
import { ListValue, MapValue, OpaqueValue } from '../values/values.ts';

const ipType = opaque('net.IP');
const cidrType = opaque('net.CIDR');
const urlType = opaque('kubernetes.URL');

/** Strict: no leading zeros, no IPv4 in IPv6 clothing. */
function readIP(text: string): IPAddress | string {
  const address = text.length > readTextCharsMax ? undefined : parseIP(text);
  if (!address || address.leadingZeros)
    return `IP Address "${text}" parse error during conversion from string: ParseAddr("${text}"): unable to parse IP`;
  return address.mapped ? `IPv4-mapped IPv6 address "${text}" is not allowed` : address;
}

function readCIDR(text: string): IPPrefix | string {
  const prefix = text.length > readTextCharsMax ? undefined : parseCIDR(text);
  if (!prefix || prefix.leadingZeros)
    return `network address parse error during conversion from string: netip.ParsePrefix("${text}"): ParseAddr("${text}"): unable to parse IP`;
  return prefix.address.mapped ? `IPv4-mapped IPv6 address "${text}" is not allowed` : prefix;
}

const need = <T>(read: T | string): T => {
  if (typeof read === 'string') throw new CelError(read);
  return read;
};

const sameIP = (one: IPAddress, two: IPAddress): boolean => one.family === two.family && one.value === two.value;
const ipValue = (ip: IPAddress): OpaqueValue => new OpaqueValue('net.IP', ip, (other) => sameIP(ip, other as IPAddress));
const cidrValue = (cidr: IPPrefix): OpaqueValue =>
  new OpaqueValue(
    'net.CIDR',
    cidr,
    (other) => sameIP(cidr.address, (other as IPPrefix).address) && cidr.length === (other as IPPrefix).length,
  );
const ipOf = ({ content }: OpaqueValue): IPAddress => content as IPAddress;
const cidrOf = ({ content }: OpaqueValue): IPPrefix => content as IPPrefix;

/** Whether the leading bits are those of the prefix. */
function isIn({ family, value }: IPAddress, bits: number, ...prefixes: string[]): boolean {
  return prefixes.some((text) => {
    const prefix = parseCIDR(text);
    if (!prefix || prefix.address.family !== family || prefix.length > bits) return false;
    const rest = BigInt((family === 4 ? 32 : 128) - prefix.length);
    return value >> rest === prefix.network.value >> rest;
  });
}

const all = 128;
const isLinkLocalMulticast = (ip: IPAddress): boolean => isIn(ip, all, '224.0.0.0/24', 'ff02::/16');
const isLinkLocalUnicast = (ip: IPAddress): boolean => isIn(ip, all, '169.254.0.0/16', 'fe80::/10');
const isLoopback = (ip: IPAddress): boolean => isIn(ip, all, '127.0.0.0/8', '::1/128');
const isMulticast = (ip: IPAddress): boolean => isIn(ip, all, '224.0.0.0/4', 'ff00::/8');
const isGlobalUnicast = (ip: IPAddress): boolean =>
  ip.value !== 0n && !isIn(ip, all, '255.255.255.255/32') && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip);

const containsIP = (cidr: IPPrefix, ip: IPAddress): boolean => isIn(ip, all, cidrText(cidr));
const containsCIDR = (cidr: IPPrefix, other: IPPrefix): boolean => isIn(other.network, other.length, cidrText(cidr));

const ips = [
  global('ip', [string], ipType, (text: string) => ipValue(need(readIP(text))), textCost),
  global('isIP', [string], bool, (text: string) => typeof readIP(text) !== 'string', textCost),
  global('ip.isCanonical', [string], bool, (text: string) => ipText(need(readIP(text))) === text, rewriteCost),
  global('string', [ipType], string, (ip: OpaqueValue) => ipText(ipOf(ip))),
  member('family', [ipType], int, (ip: OpaqueValue) => BigInt(ipOf(ip).family)),
  member('isUnspecified', [ipType], bool, (ip: OpaqueValue) => ipOf(ip).value === 0n),
  member('isLoopback', [ipType], bool, (ip: OpaqueValue) => isLoopback(ipOf(ip))),
  member('isLinkLocalMulticast', [ipType], bool, (ip: OpaqueValue) => isLinkLocalMulticast(ipOf(ip))),
  member('isLinkLocalUnicast', [ipType], bool, (ip: OpaqueValue) => isLinkLocalUnicast(ipOf(ip))),
  member('isGlobalUnicast', [ipType], bool, (ip: OpaqueValue) => isGlobalUnicast(ipOf(ip))),
];

const cidrs = [
  global('cidr', [string], cidrType, (text: string) => cidrValue(need(readCIDR(text))), textCost),
  global('isCIDR', [string], bool, (text: string) => typeof readCIDR(text) !== 'string', textCost),
  global('string', [cidrType], string, (cidr: OpaqueValue) => `${ipText(cidrOf(cidr).address)}/${cidrOf(cidr).length}`),
  member('containsIP', [cidrType, string], bool, (cidr: OpaqueValue, ip: string) => containsIP(cidrOf(cidr), need(readIP(ip)))),
  member('containsIP', [cidrType, ipType], bool, (cidr: OpaqueValue, ip: OpaqueValue) => containsIP(cidrOf(cidr), ipOf(ip))),
  member('containsCIDR', [cidrType, string], bool, (cidr: OpaqueValue, other: string) =>
    containsCIDR(cidrOf(cidr), need(readCIDR(other))),
  ),
  member('containsCIDR', [cidrType, cidrType], bool, (cidr: OpaqueValue, other: OpaqueValue) =>
    containsCIDR(cidrOf(cidr), cidrOf(other)),
  ),
  member('ip', [cidrType], ipType, (cidr: OpaqueValue) => ipValue(cidrOf(cidr).address)),
  member('prefixLength', [cidrType], int, (cidr: OpaqueValue) => BigInt(cidrOf(cidr).length)),
  member('masked', [cidrType], cidrType, (cidr: OpaqueValue) => cidrValue({ ...cidrOf(cidr), address: cidrOf(cidr).network })),
];

/** Absolute: a scheme or a path from the root. */
interface Url {
  text: string;
  scheme: string;
  host: string;
  path: string;
  query: string;
}

/** A port, if there is one, is digits. */
function hasPort(host: string): boolean {
  const bracket = host.lastIndexOf(']');
  const colon = host.indexOf(':', bracket + 1);
  return colon < 0 || /^\d*$/.test(host.slice(colon + 1));
}

function readUrl(text: string): Url | string {
  spendWork(text.length / 4);
  const match = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?$/.exec(text);
  const [, scheme = '', authority = '', path = '', query = ''] = match ?? [];
  const problem = (): string => `URL parse error during conversion from string: parse "${text}": invalid URI for request`;
  if (!match || text === '' || /[ \p{Cc}]/u.test(text) || (scheme === '' && !path.startsWith('/'))) return problem();
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (/%(?![0-9a-fA-F]{2})/.test(path) || !hasPort(host)) return problem();
  return { text, scheme, host, path, query };
}

const urlOf = ({ content }: OpaqueValue): Url => content as Url;
/** Where the port of a host begins; its length: there is none. */
function portAt(host: string): number {
  const colon = host.lastIndexOf(':');
  return colon > host.lastIndexOf(']') ? colon : host.length;
}

function queryOf({ query }: Url): MapValue {
  spendWork(query.length);
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  return new MapValue(new Map([...values].map(([name, list]) => [name, new ListValue(list)])));
}

const urls = [
  global(
    'url',
    [string],
    urlType,
    (text: string) => new OpaqueValue('kubernetes.URL', need(readUrl(text)), (other) => (other as Url).text === text),
    textCost,
  ),
  global('isURL', [string], bool, (text: string) => typeof readUrl(text) !== 'string', textCost),
  member('getScheme', [urlType], string, (url: OpaqueValue) => urlOf(url).scheme),
  member('getHost', [urlType], string, (url: OpaqueValue) => urlOf(url).host),
  member('getHostname', [urlType], string, (url: OpaqueValue) =>
    urlOf(url)
      .host.slice(0, portAt(urlOf(url).host))
      .replace(/^\[(.*)\]$/, '$1'),
  ),
  member('getPort', [urlType], string, (url: OpaqueValue) => urlOf(url).host.slice(portAt(urlOf(url).host) + 1)),
  member('getEscapedPath', [urlType], string, (url: OpaqueValue) => urlOf(url).path),
  member('getQuery', [urlType], map(string, list(string)), (url: OpaqueValue) => queryOf(urlOf(url))),
];

export const netFunctions = [...ips, ...cidrs, ...urls];
