// Amazon EC2 (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/).
import type { Actions } from '../account.ts';
import { instanceActions } from './instances.ts';
import { networkActions } from './networks.ts';
import { routeActions } from './routes.ts';
import { securityGroupActions } from './security-groups.ts';
import { tagActions } from './tags.ts';

export const ec2Actions: Actions = {
  ...instanceActions,
  ...networkActions,
  ...routeActions,
  ...securityGroupActions,
  ...tagActions,
};
