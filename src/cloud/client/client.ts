// The typed client of the cloud's HTTP API: one function per operation, made from the table of operations. Retries are the caller's: only it
// knows whether a change may be sent twice.
import { createWireClient, type Dial, type WireClient } from '#wire';
import { type Input, type Operation, type OperationId, operationEntries, type Output, parameterNames } from '../api/index.ts';
import { answeredError, CloudApiError } from './errors.ts';
import { requestTimeoutMs, responseBytesMax } from './limits.ts';

export interface CloudClientOptions {
  /** `https://host:port`. */
  url: string;
  /** A function is asked before each request. */
  token: string | (() => string);
  /** Authorities of the server's certificate, PEM. Default: those of the system. */
  ca?: string | Buffer;
  /** The time limit of one request. Default: `requestTimeoutMs`. */
  timeoutMs?: number;
  /** Opens connections in another way than from this process's network. */
  dial?: Dial;
}
export interface CallOptions {
  signal?: AbortSignal | undefined;
}

type Arguments<Id extends OperationId> =
  Record<never, never> extends Input<Id> ? [input?: Input<Id>, options?: CallOptions] : [input: Input<Id>, options?: CallOptions];

/** Every operation by its name. Each rejects with `CloudApiError`, or with the signal's reason. */
export type CloudOperations = {
  readonly [Id in OperationId]: (...args: Arguments<Id>) => Promise<Output<Id>>;
};
export interface CloudClient extends CloudOperations {
  /** Ends all connections. */
  close(): void;
}

/** Makes a client, which connects when it is first used. Throws for a `url` that cannot be one. */
export function createCloudClient(options: CloudClientOptions): CloudClient {
  const { url, ca, dial } = options;
  const wire = createWireClient({ baseUrl: url, ...(ca !== undefined && { tls: { ca } }), ...(dial && { dial }) });
  return cloudClientOver(
    (...request) => call(wire, options, ...request),
    () => wire.close(),
  );
}

/** Carries one call out. Rejects with `CloudApiError`, or with the signal's reason. */
export type SendCall = (
  id: OperationId,
  operation: Operation,
  input: Record<string, unknown>,
  signal: AbortSignal | undefined,
) => Promise<unknown>;

/** A client whose calls go another way. */
export function cloudClientOver(send: SendCall, close: () => void): CloudClient {
  const calls = operationEntries.map(([id, operation]) => [
    id,
    (input: Record<string, unknown> = {}, { signal }: CallOptions = {}) => send(id, operation, input, signal),
  ]);
  // The table's own types say what each function takes and gives.
  return { ...(Object.fromEntries(calls) as CloudOperations), close };
}

async function call(
  wire: WireClient,
  { token, timeoutMs = requestTimeoutMs }: CloudClientOptions,
  id: OperationId,
  operation: Operation,
  input: Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const { path, body } = encodeRequest(operation, input);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await wire.request({
      method: operation.method,
      path,
      headers: {
        authorization: `Bearer ${typeof token === 'function' ? token() : token}`,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const text = await response.text(responseBytesMax);
    if (response.status === operation.success)
      return 'response' in operation ? parseAnswer(id, response.status, text) : undefined;
    throw answeredError(id, response.status, response.headers['retry-after'], text);
  } catch (error) {
    if (error instanceof CloudApiError) throw error;
    if (signal?.aborted) throw signal.reason;
    const why = timeout.aborted ? `no answer within ${timeoutMs} ms` : error instanceof Error ? error.message : String(error);
    throw new CloudApiError(`${id}: ${why}`, { code: 'Unreachable', status: 0, cause: error });
  }
}

function parseAnswer(id: OperationId, status: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CloudApiError(`${id}: the answer is no JSON: ${text.slice(0, 200)}`, { code: 'BadAnswer', status, cause });
  }
}

/** Distributes the input over path, query and body, as the operation declares them. */
export function encodeRequest(operation: Operation, input: Record<string, unknown>): { path: string; body: string | undefined } {
  const inPath = new Set(parameterNames(operation.path));
  const query = new URLSearchParams();
  const body: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(input)) {
    if (value === undefined || inPath.has(key)) continue;
    if (!operation.query || !Object.hasOwn(operation.query.shape, key)) body[key] = value;
    else if (key === 'tags')
      for (const [tag, wanted] of Object.entries(value as Record<string, string>)) query.set(`tag.${tag}`, wanted);
    else query.set(key, String(value));
  }
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name] ?? '')));
  return { path: query.size > 0 ? `${path}?${query}` : path, body: operation.body ? JSON.stringify(body) : undefined };
}
