// Elastic Load Balancing, version 2012-06-01: classic load balancers (https://docs.aws.amazon.com/elasticloadbalancing/2012-06-01/APIReference/).
import type { Actions } from '../account.ts';
import { changeActions } from './change.ts';
import { describeActions } from './describe.ts';

export const elbActions: Actions = { ...describeActions, ...changeActions };
