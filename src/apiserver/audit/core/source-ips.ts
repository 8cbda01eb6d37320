// Where a request came from (k8s.io/apimachinery/pkg/util/net, SourceIPs): what proxies say, then the connection.
import { ipText, parseIP } from '#apimachinery/validation';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const textOf = (value: string | readonly string[] | undefined): string =>
  typeof value === 'string' ? value : (value?.join(',') ?? '');

const parsed = (text: string): string[] => {
  const ip = parseIP(text.trim());
  return ip ? [ipText(ip)] : [];
};

export function sourceIps(headers: Headers, remoteAddress: string): string[] {
  const ips = textOf(headers['x-forwarded-for']).split(',').flatMap(parsed);
  for (const real of parsed(textOf(headers['x-real-ip']))) if (!ips.includes(real)) ips.push(real);
  for (const remote of parsed(remoteAddress)) if (ips.at(-1) !== remote) ips.push(remote);
  return ips;
}
