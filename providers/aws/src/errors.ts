// What AWS answers instead of a result: codes looked for through causes, and throttling told to the controllers as a delay.
import { retryAfter } from 'sagong/cloud-provider';
import { throttledRetryMs } from './limits.ts';

const causesMax = 16;

function* chain(error: unknown): Generator<Record<string, unknown>> {
  let current = error;
  for (let depth = 0; depth < causesMax && typeof current === 'object' && current !== null; depth++) {
    yield current as Record<string, unknown>;
    current = (current as { cause?: unknown }).cause;
  }
}

/**
 * Whether AWS answered with one of these codes. The query APIs give a code in `Code` and the SDK a name made from it
 * (`LoadBalancerNotFound`, `AccessPointNotFoundException`): either counts.
 */
export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  [...chain(error)].some(({ name, Code }) => codes.includes(String(Code)) || codes.includes(String(name)));

export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * For a `.catch`: throws the error again with what was being done in front of its message. The original, with its wish for a later time, is its
 * cause.
 */
export const during =
  (what: string) =>
  (error: unknown): never => {
    throw new Error(`${what}: ${textOf(error)}`, { cause: error });
  };

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
  [...chain(error)].some(({ $retryable }) => (($retryable ?? {}) as { throttling?: boolean }).throttling === true);

/** Throttling as an error with a delay for the controller, in milliseconds; every other error as it is. */
export const forController = (operation: string, error: unknown, delayMs: number): unknown =>
  isThrottling(error)
    ? retryAfter(`${operation}: AWS is asked too often: ${textOf(error)}`, Math.max(delayMs, throttledRetryMs), error)
    : error;
