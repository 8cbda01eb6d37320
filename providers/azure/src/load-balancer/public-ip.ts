// One public IP: whose it is, and how it is to be. Pure.
import type { PublicIPAddress } from '@azure/arm-network';
import type { Service } from 'sagong/cloud-provider';
import { serviceKey } from 'sagong/cloud-provider/kit';
import { sameText } from '../ids.ts';
import { type Family, isPieceName, oldTag, ownsPiece, tag } from '../names.ts';
import type { Settings } from '../settings.ts';
import { keptTags, sameTags, tagOf, withTags } from '../tags.ts';
import { annotation, prefix } from './annotations.ts';
import type { FamilyPlan, Plan } from './plan.ts';

const servicesOf = (ip: PublicIPAddress): string[] =>
  (tagOf(ip.tags, tag.service, oldTag.service) ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
/** One that a user has made carries no tag of ours. */
const isOurs = (ip: PublicIPAddress): boolean => tagOf(ip.tags, tag.service, oldTag.service) !== undefined;
const isOfCluster = (ip: PublicIPAddress, cluster: string): boolean =>
  sameText(tagOf(ip.tags, tag.cluster, oldTag.cluster) ?? cluster, cluster);
const isFor = (ip: PublicIPAddress, key: string): boolean => servicesOf(ip).some((one) => sameText(one, key));
const labelOf = (ip: PublicIPAddress): string | undefined => tagOf(ip.tags, tag.dnsLabel, oldTag.dnsLabel);

export const familyOfIp = ({ publicIPAddressVersion }: PublicIPAddress): Family =>
  publicIPAddressVersion === 'IPv6' ? 'IPv6' : 'IPv4';

/** A Service that was made again under its old name has another UID, and so has the name of its public IP. */
function isOfAnother({ name = '' }: PublicIPAddress, cluster: string, service: Service): boolean {
  const rest = name.toLowerCase().startsWith(`${cluster.toLowerCase()}-`) ? name.slice(cluster.length + 1) : '';
  return isPieceName(rest) && !ownsPiece(service, rest);
}
export const isMine = (ip: PublicIPAddress, cluster: string, service: Service): boolean =>
  isOurs(ip) &&
  isOfCluster(ip, cluster) &&
  isFor(ip, serviceKey(service)) &&
  (servicesOf(ip).length > 1 || !isOfAnother(ip, cluster, service));

const without = (tags: Readonly<Record<string, string>>, ...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(tags).filter(([key]) => !names.some((name) => sameText(key, name))));

/** Tags of ours that stay whatever `systemTags` say. */
const ownTags = (ip: PublicIPAddress): Record<string, string> =>
  Object.fromEntries(
    [tag.cluster, tag.dnsLabel].flatMap((name) => {
      const value = tagOf(ip.tags, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** A new one, for one family of a Service. */
export const freshIp = (
  settings: Settings,
  cluster: string,
  { ipTags }: Plan,
  { family, pipPrefixId }: FamilyPlan,
): PublicIPAddress => ({
  location: settings.location,
  sku: { name: 'Standard' },
  publicIPAllocationMethod: 'Static',
  publicIPAddressVersion: family,
  tags: { [tag.cluster]: cluster, [tag.service]: '' },
  ...(ipTags.length > 0 && { ipTags: ipTags.map(({ type, tag: value }) => ({ ipTagType: type, tag: value })) }),
  ...(pipPrefixId !== undefined && { publicIPPrefix: { id: pipPrefixId } }),
  ...(settings.extendedLocation && { extendedLocation: settings.extendedLocation }),
});

/** As annotations ask for it. Throws for a DNS label that another Service has set. */
function dressed(ip: PublicIPAddress, settings: Settings, { key, dnsLabel, pipTags }: Plan): PublicIPAddress {
  const ours = isOurs(ip);
  const bound = { [tag.service]: [...new Set([...servicesOf(ip), key])].join(',') };
  let tags = { ...ip.tags };
  if (ours) {
    const wanted = withTags(settings.tags, pipTags, ownTags(ip), bound);
    tags = keptTags(without(tags, ...Object.values(oldTag)), wanted, settings.systemTags);
  }
  if (dnsLabel === undefined) return { ...ip, tags };
  const user = labelOf(ip);
  if (user && !sameText(user, key))
    throw new Error(
      `Service ${user} has set the DNS label of public IP ${ip.name}; annotation ${prefix}${annotation.dnsLabel} cannot change it`,
    );
  const isSet = sameText(ip.dnsSettings?.domainNameLabel, dnsLabel);
  const labelled = isSet ? ip.dnsSettings : { domainNameLabel: dnsLabel };
  if (ours) tags = dnsLabel === '' ? without(tags, tag.dnsLabel) : withTags(tags, { [tag.dnsLabel]: key });
  return { ...ip, tags, dnsSettings: dnsLabel === '' ? undefined : labelled };
}

const isSame = (a: PublicIPAddress, b: PublicIPAddress): boolean =>
  a.provisioningState !== 'Failed' &&
  sameTags(a.tags, b.tags) &&
  (a.dnsSettings?.domainNameLabel ?? '') === (b.dnsSettings?.domainNameLabel ?? '');

/** The public IP as annotations ask for it; undefined when it is like that already. */
export function redressed(ip: PublicIPAddress, settings: Settings, plan: Plan): PublicIPAddress | undefined {
  const wanted = dressed(ip, settings, plan);
  return ip.etag !== undefined && isSame(ip, wanted) ? undefined : wanted;
}

/** 'gone' where the Service alone has the IP; the IP without the Service where others have it, too; undefined: the Service has no part in it. */
export function givenBack(ip: PublicIPAddress, cluster: string, key: string): PublicIPAddress | 'gone' | undefined {
  if (!isOurs(ip) || !isOfCluster(ip, cluster) || !isFor(ip, key)) return undefined;
  const others = servicesOf(ip).filter((one) => !sameText(one, key));
  if (others.length === 0) return 'gone';
  const tags = withTags(ip.tags, { [tag.service]: others.join(',') });
  if (!sameText(labelOf(ip), key)) return { ...ip, tags };
  return { ...ip, tags: without(tags, tag.dnsLabel, oldTag.dnsLabel), dnsSettings: undefined };
}
