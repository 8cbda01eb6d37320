// Operations on security groups. Pure.
import * as z from 'zod';
import { securityGroup, securityGroupRule } from '../model/index.ts';
import { creation, description, name, operation, page, paging } from './operation.ts';

const rules = () => z.strictObject({ rules: z.array(securityGroupRule()).min(1).max(100) });
const change = <const Path extends string>(path: Path, summary: string) =>
  operation({ method: 'POST', path, summary, body: rules, response: securityGroup, success: 200 });

export const securityGroupOperations = {
  createSecurityGroup: operation({
    method: 'POST',
    path: '/v1/security-groups',
    summary: 'Make a security group: nothing comes in, everything goes out.',
    body: () => z.strictObject({ vpcId: z.string(), name, description: description.default(''), ...creation() }),
    response: securityGroup,
    success: 201,
  }),
  listSecurityGroups: operation({
    method: 'GET',
    path: '/v1/security-groups',
    summary: 'List security groups.',
    query: () => z.strictObject({ vpcId: z.string().optional(), name: name.optional(), ...paging() }),
    response: page(securityGroup),
    success: 200,
  }),
  getSecurityGroup: operation({
    method: 'GET',
    path: '/v1/security-groups/{securityGroupId}',
    summary: 'One security group with its rules.',
    response: securityGroup,
    success: 200,
  }),
  deleteSecurityGroup: operation({
    method: 'DELETE',
    path: '/v1/security-groups/{securityGroupId}',
    summary: 'Remove a security group that no interface and no rule of another group uses.',
    success: 204,
  }),
  authorizeSecurityGroupIngress: change(
    '/v1/security-groups/{securityGroupId}/ingress',
    'Let more in. Rules already there stay.',
  ),
  revokeSecurityGroupIngress: change('/v1/security-groups/{securityGroupId}/ingress/revoke', 'Let less in.'),
  authorizeSecurityGroupEgress: change('/v1/security-groups/{securityGroupId}/egress', 'Let more out. Rules already there stay.'),
  revokeSecurityGroupEgress: change('/v1/security-groups/{securityGroupId}/egress/revoke', 'Let less out.'),
};
