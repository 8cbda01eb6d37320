// The name service of a VPC, as a function: private zones first, then names of interfaces, then public zones; everything else is somebody else's.
import type { DnsZone, World } from '../model/index.ts';
import { privateDnsName } from './allocate.ts';
import type { Settings } from './context.ts';
import { aliasesMax } from './limits.ts';

export interface Question {
  name: string;
  type: string;
}
export interface ResourceRecord {
  name: string;
  type: 'A' | 'CNAME' | 'PTR';
  ttl: number;
  data: string;
}
export type NameAnswer =
  | {
      rcode: 'NOERROR' | 'NXDOMAIN';
      /** The zone that knows; for the authority section of empty answers. */
      zone: string;
      answers: ResourceRecord[];
      /** The last alias leads out of what is known here: ask others for it. */
      beyond?: string;
    }
  | 'forward';

const internalTtlSeconds = 60;
const isInside = (zone: string, name: string): boolean => name === zone || name.endsWith(`.${zone}`);

/** The answer for a client in a VPC, or (undefined) for one outside of all. */
export function resolveName(
  world: World,
  settings: Pick<Settings, 'region'>,
  vpcId: string | undefined,
  { name, type }: Question,
): NameAnswer {
  const answers: ResourceRecord[] = [];
  let wanted = name.toLowerCase().replace(/\.$/, '');
  let zone = '';
  for (let step = 0; step <= aliasesMax; step++) {
    const found = lookUp(world, settings, vpcId, wanted, type);
    if (found === 'forward') return step === 0 ? 'forward' : { rcode: 'NOERROR', zone, answers, beyond: wanted };
    if (step === 0) zone = found.zone;
    answers.push(...found.records.map((record) => ({ ...record, name: step === 0 ? name : record.name })));
    const [alias] = found.records;
    if (alias?.type !== 'CNAME' || type === 'CNAME')
      return { rcode: found.exists || step > 0 ? 'NOERROR' : 'NXDOMAIN', zone, answers };
    wanted = alias.data.toLowerCase().replace(/\.$/, '');
  }
  return { rcode: 'NOERROR', zone, answers };
}

interface Found {
  zone: string;
  exists: boolean;
  records: ResourceRecord[];
}

function lookUp(
  world: World,
  settings: Pick<Settings, 'region'>,
  vpcId: string | undefined,
  name: string,
  type: string,
): Found | 'forward' {
  const seen = [...world.dnsZones.values()].filter((zone) => isInside(zone.name, name));
  const privately = longest(
    seen.filter(({ visibility, vpcIds }) => visibility === 'private' && vpcId !== undefined && vpcIds.includes(vpcId)),
  );
  if (privately) return inZone(privately, name, type);
  const internal = `${settings.region}.compute.internal`;
  if (isInside(internal, name)) return internalName(world, settings.region, vpcId, name, type, internal);
  const reverse = vpcId === undefined ? undefined : reverseName(world, settings.region, vpcId, name, type);
  if (reverse) return reverse;
  const publicly = longest(seen.filter(({ visibility }) => visibility === 'public'));
  return publicly ? inZone(publicly, name, type) : 'forward';
}

const longest = (zones: readonly DnsZone[]): DnsZone | undefined => zones.toSorted((a, b) => b.name.length - a.name.length)[0];

function inZone(zone: DnsZone, name: string, type: string): Found {
  const { records } = zone;
  const exact = records.filter((record) => record.name === name);
  // A wildcard stands for names that are not there, at any depth below it (RFC 4592); the closest one counts.
  const closest = records
    .filter((record) => record.name.startsWith('*.') && name.endsWith(record.name.slice(1)))
    .toSorted((a, b) => b.name.length - a.name.length)[0];
  const below = records.some((record) => record.name.endsWith(`.${name}`));
  const matching = exact.length > 0 || below ? exact : records.filter((record) => record.name === closest?.name);
  return {
    zone: zone.name,
    exists: matching.length > 0 || below || name === zone.name,
    records: matching
      .filter((record) => record.type === type || record.type === 'CNAME')
      .flatMap((record) => record.values.map((data) => ({ name, type: record.type, ttl: record.ttlSeconds, data }))),
  };
}

function internalName(world: World, region: string, vpcId: string | undefined, name: string, type: string, zone: string): Found {
  for (const { vpcId: where, privateAddress } of world.interfaces.values())
    if (where === vpcId && privateDnsName(privateAddress, region) === name)
      return {
        zone,
        exists: true,
        records: type === 'A' ? [{ name, type, ttl: internalTtlSeconds, data: privateAddress }] : [],
      };
  return { zone, exists: name === zone, records: [] };
}

function reverseName(world: World, region: string, vpcId: string, name: string, type: string): Found | undefined {
  const [, ...parts] = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\.in-addr\.arpa$/.exec(name) ?? [];
  const address = parts.toReversed().join('.');
  for (const { vpcId: where, privateAddress } of world.interfaces.values())
    if (where === vpcId && privateAddress === address) {
      const data = privateDnsName(address, region);
      return { zone: name, exists: true, records: type === 'PTR' ? [{ name, type, ttl: internalTtlSeconds, data }] : [] };
    }
  return undefined;
}
