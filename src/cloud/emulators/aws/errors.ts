// What AWS answers instead of a result, and how refusals of the local cloud are called there
// (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html and the two references of Elastic Load Balancing).
import { CloudApiError } from '../../client/index.ts';

export type Service = 'ec2' | 'elb' | 'elbv2' | 'sts';

export class AwsError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.name = 'AwsError';
    this.code = code;
    this.status = status;
  }
}

export const missing = (parameter: string): AwsError =>
  new AwsError('MissingParameter', `The request must contain the parameter ${parameter}`);
export const invalid = (message: string): AwsError => new AwsError('InvalidParameterValue', message);
/** What AWS can do and the local cloud behind it cannot. */
export const unsupported = (message: string): AwsError =>
  new AwsError('UnsupportedOperation', `The local cloud does not do this: ${message}`);

const ec2Codes: Readonly<Record<string, string>> = {
  InstanceNotFound: 'InvalidInstanceID.NotFound',
  SecurityGroupNotFound: 'InvalidGroup.NotFound',
  SecurityGroupRuleNotFound: 'InvalidPermission.NotFound',
  SecurityGroupAlreadyExists: 'InvalidGroup.Duplicate',
  SubnetNotFound: 'InvalidSubnetID.NotFound',
  VpcNotFound: 'InvalidVpcID.NotFound',
  RouteTableNotFound: 'InvalidRouteTableID.NotFound',
  RouteNotFound: 'InvalidRoute.NotFound',
  InterfaceNotFound: 'InvalidNetworkInterfaceID.NotFound',
  AddressNotFound: 'InvalidAllocationID.NotFound',
  ResourceNotFound: 'InvalidID',
  RequestThrottled: 'RequestLimitExceeded',
  LimitExceeded: 'ResourceLimitExceeded',
  AccessDenied: 'UnauthorizedOperation',
};
const balancerCodes: Readonly<Record<string, string>> = {
  SecurityGroupNotFound: 'InvalidSecurityGroup',
  SubnetNotFound: 'SubnetNotFound',
  RequestThrottled: 'Throttling',
  LimitExceeded: 'TooManyLoadBalancers',
  AddressInUse: 'AllocationIdNotFound',
  InvalidParameterValue: 'ValidationError',
};
const codesOf: Readonly<Record<Service, Readonly<Record<string, string>>>> = {
  ec2: ec2Codes,
  elb: { ...balancerCodes, InstanceNotFound: 'InvalidInstance' },
  elbv2: { ...balancerCodes, InstanceNotFound: 'InvalidTarget' },
  sts: {},
};

/** Any failure as AWS answers it. */
export function awsErrorOf(service: Service, error: unknown): AwsError {
  if (error instanceof AwsError) return error;
  if (!(error instanceof CloudApiError) || error.status === 0 || error.status >= 500)
    return new AwsError('InternalError', 'An internal error has occurred', 500);
  const code = codesOf[service][error.code] ?? error.code;
  return new AwsError(code, error.message, code === 'RequestLimitExceeded' ? 503 : 400);
}
