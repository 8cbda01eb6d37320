// How requests of the SDK go out: signed (https://docs.oracle.com/iaas/Content/API/Concepts/signingrequests.htm), ended by the caller's signal, and
// with failures that keep what the answer said. The SDK itself would print each failure on the console, keep neither Retry-After nor the cause, and
// go on when its caller has gone.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AuthenticationDetailsProvider, HttpClient, HttpRequest } from 'oci-common';
import { boundedText } from 'sagong/cloud-provider/kit';
import { OciAnswerError } from './errors.ts';
import { createSigner, type Signer } from './signer.ts';

interface Attempt {
  signal: AbortSignal;
  /** Ends the try from below the SDK. */
  fail(error: unknown): void;
}
const attempts = new AsyncLocalStorage<Attempt>();

/** Runs one call of the SDK. Rejects with what went wrong on the wire, not with what the SDK makes of it. */
export const attempt = <T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    attempts.run({ signal, fail: reject }, () => void call().then(resolve, reject));
  });

async function failureIn(response: Response): Promise<OciAnswerError> {
  const text = await boundedText(response);
  let body: { code?: unknown; message?: unknown } = {};
  try {
    body = (JSON.parse(text) ?? {}) as typeof body;
  } catch {
    // A proxy in between may answer in HTML.
  }
  return new OciAnswerError({
    status: response.status,
    code: typeof body.code === 'string' ? body.code : '',
    message: typeof body.message === 'string' ? body.message : text.slice(0, 200),
    requestId: response.headers.get('opc-request-id') ?? undefined,
    retryAfter: response.headers.get('retry-after') ?? undefined,
  });
}

async function answerTo(signer: Signer, request: HttpRequest, signal: AbortSignal): Promise<Response> {
  const { method, headers, uri, body } = request;
  await signer.sign(request);
  const response = await fetch(uri, {
    method,
    headers,
    redirect: 'error',
    signal,
    ...(body !== undefined && body !== null && { body: body as string }),
  });
  if (response.status >= 400) throw await failureIn(response);
  // Read here, under the signal and with a bound.
  const text = await boundedText(response);
  return new Response(text === '' ? null : text, { status: response.status, headers: response.headers });
}

/** Credentials may be found when the first request goes out. */
export function signedHttp(provider: () => Promise<AuthenticationDetailsProvider>): HttpClient {
  let made: { provider: AuthenticationDetailsProvider; signer: Signer } | undefined;
  return {
    async send(request) {
      const current = attempts.getStore();
      if (!current) throw new Error('a request of the SDK outside of an attempt');
      try {
        const found = await provider();
        if (made?.provider !== found) made = { provider: found, signer: createSigner(found) };
        return await answerTo(made.signer, request, current.signal);
      } catch (error) {
        current.fail(error);
        // Nobody waits for the SDK any more.
        return new Promise<Response>(() => {});
      }
    },
  };
}
