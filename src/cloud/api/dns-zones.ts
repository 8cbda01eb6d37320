// Operations on name zones. Pure.
import * as z from 'zod';
import { dnsZone } from '../model/index.ts';
import { creation, operation, page, paging } from './operation.ts';

const domainName = z
  .string()
  .max(253)
  .regex(/^(\*\.)?[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*$/i, 'not a domain name');

export const dnsZoneOperations = {
  createDnsZone: operation({
    method: 'POST',
    path: '/v1/dns-zones',
    summary: 'Make a name zone: public, or private and seen in some VPCs.',
    body: () =>
      z.strictObject({
        name: domainName,
        visibility: dnsZone().shape.visibility.default('private'),
        vpcIds: z.array(z.string()).max(50).default([]),
        ...creation(),
      }),
    response: dnsZone,
    success: 201,
  }),
  listDnsZones: operation({
    method: 'GET',
    path: '/v1/dns-zones',
    summary: 'List name zones.',
    query: () => z.strictObject({ name: z.string().optional(), vpcId: z.string().optional(), ...paging() }),
    response: page(dnsZone),
    success: 200,
  }),
  getDnsZone: operation({
    method: 'GET',
    path: '/v1/dns-zones/{dnsZoneId}',
    summary: 'One name zone with its records.',
    response: dnsZone,
    success: 200,
  }),
  deleteDnsZone: operation({
    method: 'DELETE',
    path: '/v1/dns-zones/{dnsZoneId}',
    summary: 'Remove a name zone with its records.',
    success: 204,
  }),
  putDnsRecord: operation({
    method: 'PUT',
    path: '/v1/dns-zones/{dnsZoneId}/records/{type}/{name}',
    summary: 'Set the values of a name. Names are whole ones, not relative to the zone.',
    body: () =>
      z.strictObject({ ttlSeconds: z.int().min(0).max(604_800).default(30), values: z.array(z.string()).min(1).max(100) }),
    response: dnsZone,
    success: 200,
  }),
  deleteDnsRecord: operation({
    method: 'DELETE',
    path: '/v1/dns-zones/{dnsZoneId}/records/{type}/{name}',
    summary: 'Remove a name.',
    success: 204,
  }),
  associateDnsZone: operation({
    method: 'PUT',
    path: '/v1/dns-zones/{dnsZoneId}/vpcs/{vpcId}',
    summary: 'Show a private zone in one VPC more.',
    response: dnsZone,
    success: 200,
  }),
  disassociateDnsZone: operation({
    method: 'DELETE',
    path: '/v1/dns-zones/{dnsZoneId}/vpcs/{vpcId}',
    summary: 'Show a private zone in one VPC less.',
    success: 204,
  }),
};
