// Name zones and their records.
import { conflicting, invalid, notFound } from '../api/errors.ts';
import type { DnsZone, World } from '../model/index.ts';
import type { Changes, Outcome } from './command.ts';
import { itemsOf, newResource, own, put, remove, visible, withinAccountQuota, withinQuota } from './world.ts';

type DnsRecord = DnsZone['records'][number];

const canonical = (name: string): string => name.toLowerCase().replace(/\.$/, '');
const inside = (zone: DnsZone, name: string): boolean => name === zone.name || name.endsWith(`.${zone.name}`);
const ipv4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;
const domainName = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*\.?$/i;

function checkRecord(zone: DnsZone, type: string, name: string, values: readonly string[]): asserts type is DnsRecord['type'] {
  if (type !== 'A' && type !== 'CNAME') throw invalid('type', 'must be A or CNAME');
  if (name.length > 253 || !domainName.test(name.replace(/^\*\./, ''))) throw invalid('name', 'is no domain name');
  if (!inside(zone, name)) throw invalid('name', `is not in the zone ${zone.name}`);
  const pattern = type === 'A' ? ipv4 : domainName;
  const wrong = values.find((value) => !pattern.test(value));
  if (wrong !== undefined)
    throw invalid('values', type === 'A' ? `not an IPv4 address: ${wrong}` : `not a domain name: ${wrong}`);
  if (type === 'CNAME' && values.length !== 1) throw invalid('values', 'a CNAME has one value');
  const other = zone.records.find((record) => record.name === name && record.type !== type);
  if (other) throw conflicting('RecordConflict', `${name} has a ${other.type} record, which goes with no ${type} (RFC 1034)`);
}

const into = (world: World, zone: DnsZone): Outcome => ({ world: put(world, 'dnsZones', zone), result: zone });

export const dnsZoneChanges: Changes<
  'createDnsZone' | 'deleteDnsZone' | 'putDnsRecord' | 'deleteDnsRecord' | 'associateDnsZone' | 'disassociateDnsZone'
> = {
  createDnsZone(world, { name, visibility, vpcIds, tags }, context) {
    withinAccountQuota(world, context, 'dnsZones');
    // A service shows its names in its customers' networks.
    for (const id of vpcIds) visible(world, context, 'vpcs', id);
    if (visibility === 'public' && vpcIds.length > 0) throw invalid('vpcIds', 'a public zone is seen everywhere');
    const zone = {
      ...newResource(world, 'dnsZones', context, tags),
      name: canonical(name),
      visibility,
      vpcIds: [...new Set(vpcIds)],
      records: [],
    };
    const twin = itemsOf(world, 'dnsZones').find(
      (other) => other.name === zone.name && other.visibility === visibility && overlap(other, zone),
    );
    if (twin) throw conflicting('DnsZoneAlreadyExists', `${twin.id} has the name ${zone.name}`);
    return into(world, zone);
  },
  deleteDnsZone(world, { dnsZoneId }, context) {
    return { world: remove(world, 'dnsZones', own(world, context, 'dnsZones', dnsZoneId).id), result: undefined };
  },
  putDnsRecord(world, { dnsZoneId, type, name, ttlSeconds, values }, context) {
    const zone = own(world, context, 'dnsZones', dnsZoneId);
    const owner = canonical(name);
    checkRecord(zone, type, owner, values);
    const others = zone.records.filter((record) => record.name !== owner);
    withinQuota(others.length, context.settings.quotas.recordsPerZone, 'records in a zone');
    return into(world, { ...zone, records: [...others, { name: owner, type, ttlSeconds, values }] });
  },
  deleteDnsRecord(world, { dnsZoneId, type, name }, context) {
    const zone = own(world, context, 'dnsZones', dnsZoneId);
    const owner = canonical(name);
    const left = zone.records.filter((record) => record.name !== owner || record.type !== type);
    if (left.length === zone.records.length) throw notFound('DnsRecord', `${type} ${owner}`);
    return { ...into(world, { ...zone, records: left }), result: undefined };
  },
  associateDnsZone(world, { dnsZoneId, vpcId }, context) {
    const zone = own(world, context, 'dnsZones', dnsZoneId);
    const { id } = visible(world, context, 'vpcs', vpcId);
    if (zone.visibility === 'public') throw invalid('dnsZoneId', 'a public zone is seen everywhere');
    const twin = itemsOf(world, 'dnsZones').find(
      (other) => other.id !== zone.id && other.name === zone.name && other.vpcIds.includes(id),
    );
    if (twin) throw conflicting('DnsZoneAlreadyExists', `${twin.id} has the name ${zone.name} in ${id}`);
    return into(world, { ...zone, vpcIds: [...new Set([...zone.vpcIds, id])] });
  },
  disassociateDnsZone(world, { dnsZoneId, vpcId }, context) {
    const zone = own(world, context, 'dnsZones', dnsZoneId);
    return { ...into(world, { ...zone, vpcIds: zone.vpcIds.filter((id) => id !== vpcId) }), result: undefined };
  },
};

/** Public zones are all seen together; private ones only in their VPCs. */
const overlap = (a: DnsZone, b: DnsZone): boolean => a.visibility === 'public' || a.vpcIds.some((id) => b.vpcIds.includes(id));
