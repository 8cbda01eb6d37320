// Requests whose method Node's parser does not know. A method is any token (RFC 9110 section 9.1), and what a made-up one is answered is the router's to say.
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { endAndClose } from '../http/linger.ts';

export interface ParseError extends NodeJS.ErrnoException {
  /** What had been read when the parser stopped, and how much of it the parser liked. */
  rawPacket?: Buffer;
  bytesParsed?: number;
}

const requestLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\/[!-~]*) HTTP\/1\.1$/;
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t -~\x80-\xff]*?)[ \t]*$/;

function fieldsOf(lines: readonly string[]): Map<string, string> | undefined {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? [];
    // A field that comes twice means two things to two readers.
    if (name === undefined || value === undefined || fields.has(name.toLowerCase())) return undefined;
    fields.set(name.toLowerCase(), value);
  }
  return fields;
}

/**
 * The message that stands in the packet on which the parser stopped for its method: a whole head without a body. Anything else is none; it is bad HTTP.
 * A connection answers one such message, and is closed then.
 */
export function messageOfUnknownMethod(
  error: ParseError,
  connection: Duplex,
  headerBytesMax: number,
): IncomingMessage | undefined {
  const packet = error.rawPacket;
  if (error.code !== 'HPE_INVALID_METHOD' || packet === undefined) return undefined;
  const end = packet.indexOf('\r\n\r\n');
  if (end < 0 || end > headerBytesMax) return undefined;
  const [first = '', ...lines] = packet.toString('latin1', 0, end).split('\r\n');
  const [, method, url] = requestLine.exec(first) ?? [];
  if (method === undefined || url === undefined || (error.bytesParsed ?? 0) > method.length) return undefined;
  const fields = fieldsOf(lines);
  if (!fields?.has('host') || fields.has('transfer-encoding') || (fields.get('content-length') ?? '0') !== '0') return undefined;
  const message = new IncomingMessage(connection as Socket);
  Object.assign(message, { method, url, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1, complete: true });
  message.headers = Object.fromEntries(fields);
  message.rawHeaders = [...fields].flat();
  message.push(null);
  return message;
}

/** The response to such a message; the connection ends with it. */
export function lastResponse(message: IncomingMessage): ServerResponse {
  const response = new ServerResponse(message);
  response.shouldKeepAlive = false;
  response.assignSocket(message.socket);
  response.once('finish', () => endAndClose(message.socket));
  return response;
}
