// The /etc/hosts of a pod (upstream kubelet_pods.go managedHostsFileContent).
import type { HostAlias } from '#api/core/v1';

const header = '# Kubernetes-managed hosts file.\n';
const hostNetworkHeader = '# Kubernetes-managed hosts file (host network).\n';
const basics = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

const aliasEntries = (aliases: readonly HostAlias[] | undefined): string =>
  aliases?.length
    ? `\n# Entries added by HostAliases.\n${aliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join('\t')}\n`).join('')}`
    : '';

export function podHostsFile(
  ips: readonly string[],
  hostname: string,
  domain: string,
  aliases: readonly HostAlias[] | undefined,
): string {
  const names = domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`;
  const own = ips.map((ip) => `${ip}\t${names}`);
  return `${header}${[...basics, ...own].join('\n')}\n${aliasEntries(aliases)}`;
}

/** The hosts file of a pod on the host's network: the node's own file with the pod's aliases. */
export const hostNetworkHostsFile = (nodeFile: string, aliases: readonly HostAlias[] | undefined): string =>
  `${hostNetworkHeader}${nodeFile}${aliasEntries(aliases)}`;
