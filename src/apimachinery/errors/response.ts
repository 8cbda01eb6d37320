// What a client makes of an HTTP answer that carries no Status (k8s.io/apimachinery/pkg/api/errors, NewGenericServerResponse).
import { quote } from '#utils';
import type { ResourceName } from './constructors.ts';
import { StatusError, type StatusReason } from './status.ts';

const known: Record<number, readonly [StatusReason, string]> = {
  400: ['BadRequest', 'the server rejected our request for an unknown reason'],
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: ['Timeout', 'the server was unable to return a response in the time allotted, but may still be processing the request'],
};

function reasonAndText(code: number, method: string, text: string): readonly [StatusReason, string] {
  const row = known[code];
  if (row !== undefined) return row;
  if (code === 403) return ['Forbidden', text];
  if (code === 409) return [method === 'POST' ? 'AlreadyExists' : 'Conflict', 'the server reported a conflict'];
  if (code === 415) return ['UnsupportedMediaType', text];
  if (code === 406) {
    const fallback = 'the server was unable to respond with a content type that the client supports';
    return ['NotAcceptable', text === '' || text === 'unknown' ? fallback : text];
  }
  if (code >= 500) return ['InternalError', `an error on the server (${quote(text)}) has prevented the request from succeeding`];
  return ['', `the server responded with the status code ${code} but did not return more information`];
}

const unstructuredTextMax = 2_048;

/** What a client tells of the body of such an answer: its beginning, where it is text at all (client-go's rest.Request, newUnstructuredResponseError). */
export function unstructuredText(text: string, contentType: string | undefined): string {
  const media = (contentType ?? 'text/plain').split(';')[0]?.trim().toLowerCase() ?? '';
  return media.startsWith('text/') ? text.slice(0, unstructuredTextMax).trim() : 'unknown';
}

/** What is known of an answer without a Status body. */
export interface PlainResponse {
  code: number;
  /** HTTP method, upper case. */
  method: string;
  resource: ResourceName;
  /** '' when the request named no object. */
  name: string;
  /** The body, as text. */
  text: string;
  retryAfterSeconds?: number;
  /** The body was not what the protocol promises: it is kept as a cause. */
  unexpected?: boolean;
}

export function genericServerResponse(response: PlainResponse): StatusError {
  const { code, method, resource, name, text, retryAfterSeconds = 0 } = response;
  const [reason, message] = reasonAndText(code, method, text);
  const qualified = resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`;
  const about = qualified === '' ? '' : ` (${[method.toLowerCase(), qualified, name].filter((part) => part !== '').join(' ')})`;
  return new StatusError({
    code,
    ...(reason && { reason }),
    message: message + about,
    details: {
      ...(name && { name }),
      ...(resource.group && { group: resource.group }),
      ...(resource.resource && { kind: resource.resource }),
      ...(response.unexpected && { causes: [{ reason: 'UnexpectedServerResponse', message: text }] }),
      ...(retryAfterSeconds !== 0 && { retryAfterSeconds }),
    },
  });
}
