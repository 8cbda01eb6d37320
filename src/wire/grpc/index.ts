// Calls of gRPC services (https://grpc.io/docs/what-is-grpc/core-concepts/) as promises. It only names types of grpc-js: a component that may never
// make such a call loads the library when it does.
import type { Metadata, ServiceClientConstructor, ServiceError } from '@grpc/grpc-js';
import { systemClock } from '#host';

export type ServiceClient = InstanceType<ServiceClientConstructor>;

/** Codes by number, in the words of Go's `codes.Code`, which upstream's messages have. */
const codeNames = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
];

/** The name of a code, such as `DeadlineExceeded`; a number that gRPC does not define is written `Code(99)`. */
export const codeName = (code: number): string => codeNames[code] ?? `Code(${code})`;

/** A failure as Go programs print it: `rpc error: code = NotFound desc = no such volume`. */
export const failureText = ({ code, details }: Pick<ServiceError, 'code' | 'details'>): string =>
  `rpc error: code = ${codeName(code)} desc = ${details}`;

export interface UnaryCall {
  client: ServiceClient;
  /** The name of the method in the service's definition. */
  method: string;
  request: object;
  /** Milliseconds since the epoch: a gRPC deadline is wall-clock time. */
  deadlineMs: number;
  metadata?: Metadata;
}

const clock = systemClock();
/** The wire has eight digits of hours for what is left of a call (grpc-timeout); to the library a later end is an error. */
const timeoutMsMax = 90_000_000 * 3_600_000;

/** Makes one call that has one answer. Rejects with grpc-js's `ServiceError`, whose `code` is gRPC's number. */
export function callUnary<T>({ client, method, request, deadlineMs, metadata }: UnaryCall): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const call = client[method];
    if (!call) throw new Error(`the service has no method ${method}`);
    const answered = (error: ServiceError | null, answer: T): void => (error ? reject(error) : resolve(answer));
    const options = { deadline: Math.min(deadlineMs, clock.now() + timeoutMsMax) };
    if (metadata) call.call(client, request, metadata, options, answered);
    else call.call(client, request, options, answered);
  });
}
