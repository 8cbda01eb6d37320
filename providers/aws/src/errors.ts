// What AWS answers instead of a result: codes looked for through causes, and throttling told to the controllers as a delay.
import { retryAfter } from 'sagong/cloud-provider';
import { causesOf, textOf } from 'sagong/cloud-provider/kit';
import { throttledRetryMs } from './limits.ts';

/**
 * Whether AWS answered with one of these codes. The query APIs give a code in `Code` and the SDK a name made from it
 * (`LoadBalancerNotFound`, `AccessPointNotFoundException`): either counts.
 */
export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  [...causesOf(error)].some(({ name, Code }) => codes.includes(String(Code)) || codes.includes(String(name)));

/** For a `.catch`: gives undefined when AWS answered with one of these codes; every other error is thrown again. */
export const absentFor =
  (...codes: string[]) =>
  (error: unknown): undefined => {
    if (!hasCode(error, ...codes)) throw error;
  };

/** Whether a load balancer refused an instance because it does not exist, or does not exist any more. */
export const isUnknownBackend = (error: unknown): boolean =>
  hasCode(error, 'InvalidInstance', 'InvalidEndPointException', 'InvalidTarget', 'InvalidTargetException');

const throttlingCodes = [
  'RequestLimitExceeded',
  'Throttling',
  'ThrottlingException',
  'ThrottledException',
  'RequestThrottled',
  'RequestThrottledException',
  'TooManyRequestsException',
  'SlowDown',
  'EC2ThrottledException',
  'PriorRequestNotComplete',
];

export const isThrottling = (error: unknown): boolean =>
  hasCode(error, ...throttlingCodes) ||
  [...causesOf(error)].some(({ $retryable }) => (($retryable ?? {}) as { throttling?: boolean }).throttling === true);

/** Throttling as an error with a delay for the controller, in milliseconds; every other error as it is. */
export const forController = (operation: string, error: unknown, delayMs: number): unknown =>
  isThrottling(error)
    ? retryAfter(`${operation}: AWS is asked too often: ${textOf(error)}`, Math.max(delayMs, throttledRetryMs), error)
    : error;
