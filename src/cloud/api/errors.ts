// What the API answers instead of a result. Codes are what vendors call these things (EC2's, mostly). Pure.
import * as z from 'zod';

export const errorBody = z.object({
  error: z.object({
    /** The error for programs, for example `VpcNotFound`. */
    code: z.string(),
    /** The error for people. */
    message: z.string(),
    requestId: z.string(),
    /** The field of the request that is wrong. */
    field: z.string().optional(),
  }),
});
export type ErrorBody = z.infer<typeof errorBody>;

/** Thrown inside the core and the server; becomes the answer. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly field: string | undefined;

  constructor(status: number, code: string, message: string, field?: string) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.field = field;
  }
}

export const invalid = (field: string | undefined, message: string): Refusal =>
  new Refusal(400, 'InvalidParameterValue', message, field);
/** The refusal of a request for something that does not exist. `what` is its kind, as `Vpc`. */
export const notFound = (what: string, id: string): Refusal =>
  new Refusal(404, `${what}NotFound`, `there is no such thing: ${id}`);
export const inUse = (message: string): Refusal => new Refusal(409, 'DependencyViolation', message);
export const limitExceeded = (message: string): Refusal => new Refusal(409, 'LimitExceeded', message);
export const conflicting = (code: string, message: string): Refusal => new Refusal(409, code, message);
export const accessDenied = (message: string): Refusal => new Refusal(403, 'AccessDenied', message);
export const unauthorized = (): Refusal =>
  new Refusal(401, 'Unauthorized', 'a bearer token of an account is needed in the Authorization header');
export const internalError = (message: string): Refusal => new Refusal(500, 'InternalError', message);
export const throttled = (): Refusal =>
  new Refusal(429, 'RequestThrottled', 'too many requests; try again after the time in Retry-After');
