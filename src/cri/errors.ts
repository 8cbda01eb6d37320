// Failures of the runtime, with gRPC's codes (https://grpc.io/docs/guides/status-codes/).

/** The names of gRPC's codes; the place of a name is its number. */
const codes = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;
export type CriCode = (typeof codes)[number];

/** `message` is the runtime's own text, as upstream shows it to users. */
export class CriError extends Error {
  readonly code: CriCode;
  constructor(code: CriCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CriError';
    this.code = code;
  }
}

/** Makes a CriError of any failure. */
export function criError(error: unknown): CriError {
  if (error instanceof CriError) return error;
  const { code, details, message } = error as { code?: number; details?: string; message?: string };
  const name = typeof code === 'number' ? codes[code] : undefined;
  return new CriError(name ?? 'UNKNOWN', details || message || String(error), { cause: error });
}

export const isNotFound = (error: unknown): boolean => error instanceof CriError && error.code === 'NOT_FOUND';
export const isAlreadyExists = (error: unknown): boolean => error instanceof CriError && error.code === 'ALREADY_EXISTS';
export const isUnimplemented = (error: unknown): boolean => error instanceof CriError && error.code === 'UNIMPLEMENTED';
