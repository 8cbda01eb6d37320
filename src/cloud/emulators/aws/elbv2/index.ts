// Elastic Load Balancing, version 2015-12-01: network load balancers
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/).
import type { Actions } from '../account.ts';
import { balancerActions } from './balancers.ts';
import { describeActions } from './describe.ts';
import { targetGroupActions } from './target-groups.ts';

export const elbv2Actions: Actions = { ...describeActions, ...balancerActions, ...targetGroupActions };
