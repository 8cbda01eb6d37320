// A request to a vendor's API as its handlers see it, and what they answer.

export interface VendorRequest {
  method: string;
  /** With the query; its host is the one that the client named. */
  url: URL;
  /** Parts of the path that the route's template names, decoded. */
  params: Readonly<Record<string, string>>;
  /** The headers by their names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The body as it came. */
  bytes: Buffer;
  /** The body read as its content type says: JSON, a form as an object of texts, else text. Undefined: there is none. */
  body: unknown;
  /** Number of the request at this server, from 1. */
  number: number;
}

export interface VendorAnswer {
  /** Default: 200, or 204 without a body. */
  status?: number;
  /** Sent as JSON; text and bytes as they are. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

export type Handler = (request: VendorRequest) => VendorAnswer | Promise<VendorAnswer>;

/** An answer of 400 or more, thrown by a handler. How it looks is up to `refusalAnswer` of the server. */
export class Refusal extends Error {
  readonly status: number;
  /** The vendor's word for it, as `resourceNotFound`. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** What a vendor's API is, apart from how requests arrive. */
export interface VendorApi {
  routes: Readonly<Record<string, Handler>>;
  /** Paths are compared without case, as Azure does. */
  ignoreCase?: boolean;
  /** Before a request is routed: checks credentials, settles what time has brought. Its body may not be there yet. Throws `Refusal`. */
  enter?(request: VendorRequest): void;
  /** Whether the body is the one that the headers promise, where they do. Throws `Refusal`. */
  checkBody?(request: VendorRequest): void;
  /** How the vendor answers a refusal. */
  refusalAnswer(refusal: Refusal, request: VendorRequest): VendorAnswer;
  /** Headers of every answer: request IDs, rate limits. */
  headers?(request: VendorRequest): Readonly<Record<string, string>>;
}

/** Reads a body by its content type. Throws `SyntaxError` when a body that calls itself JSON is not. */
export function readBody(bytes: Buffer, contentType = ''): unknown {
  if (bytes.length === 0) return undefined;
  const text = bytes.toString('utf8');
  if (/[/+]json/.test(contentType) || contentType === '') return JSON.parse(text) as unknown;
  if (contentType.startsWith('application/x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(text));
  return text;
}
