// From a message to a message: decodes a question, asks the zone or the forwarder, encodes the answer.
import { decode, encode, type Answer as PacketAnswer, type DecodedPacket, type Packet, TRUNCATED_RESPONSE } from 'dns-packet';
import type { Forwarder } from './forward.ts';
import { clusterTtlSeconds, udpPayloadBytes, udpPayloadBytesMax } from './limits.ts';
import type { Answer, RecordType, Resource } from './zone.ts';

/** What a name server knows of a name; undefined: somebody else's. */
export type Resolve = (name: string, type: RecordType) => Answer | undefined;

export interface ResponderOptions {
  /** Named in answers that say there is nothing, unless the answer names another zone. */
  domain: string;
  resolve: Resolve;
  forwarder: Forwarder;
}

const rcodes = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;
const authoritativeAnswer = 0x0400;
const recursionDesired = 0x0100;
const recursionAvailable = 0x0080;

export type Responder = (message: Buffer, overUdp: boolean) => Promise<Buffer | undefined>;

/** Gives the reply to one message, or undefined when it deserves none (not a question at all). Never rejects. */
export function createResponder(options: ResponderOptions): Responder {
  return async (message, overUdp) => {
    const query = decodeQuery(message);
    if (!query)
      return message.length >= 12 && (message.readUInt16BE(2) & 0x8000) === 0 ? failure(message, rcodes.FORMERR) : undefined;
    if (((message.readUInt16BE(2) >> 11) & 0xf) !== 0) return failure(message, rcodes.NOTIMP);
    const question = query.questions?.[0];
    if (!question || query.questions?.length !== 1) return failure(message, rcodes.FORMERR);
    const found = options.resolve(question.name, question.type as RecordType);
    const limit = overUdp ? payloadLimit(query) : Number.POSITIVE_INFINITY;
    if (!found) {
      const key = `${question.name.toLowerCase()} ${question.type}`;
      const forwarded = await options.forwarder.ask(message, key);
      return forwarded ? fit(forwarded, limit, message) : failure(message, rcodes.SERVFAIL, query);
    }
    const answers = [...found.answers, ...(await beyond(found.answers, question.type as RecordType, query, options))];
    const empty = answers.length === 0;
    const reply: Packet = {
      type: 'response',
      id: query.id ?? 0,
      flags: authoritativeAnswer | recursionAvailable | ((query.flags ?? 0) & recursionDesired) | rcodes[found.rcode],
      questions: [question],
      answers: answers.map(packetAnswer),
      authorities: empty ? [authority(found.zone ?? options.domain)] : [],
      additionals: found.additionals.map(packetAnswer),
    };
    return fit(encode(reply), limit, message);
  };
}

/** What the name an ExternalName service stands for leads to: resolvers do not ask again for what a CNAME names. */
async function beyond(
  found: readonly Resource[],
  type: RecordType,
  query: DecodedPacket,
  { resolve, forwarder }: ResponderOptions,
): Promise<readonly Resource[]> {
  const [alias] = found;
  if (alias?.type !== 'CNAME' || found.length !== 1 || type === 'CNAME') return [];
  const own = resolve(alias.data, type);
  if (own) return own.answers;
  const message = encode({
    type: 'query',
    id: query.id ?? 0,
    flags: recursionDesired,
    questions: [{ type, name: alias.data }],
  } as Packet);
  const answer = await forwarder.ask(message, `${alias.data.toLowerCase()} ${type}`);
  try {
    return answer ? ((decode(answer).answers ?? []) as Resource[]) : [];
  } catch {
    return [];
  }
}

const packetAnswer = (record: Resource): PacketAnswer => ({ class: 'IN', ...record }) as PacketAnswer;

const authority = (domain: string): PacketAnswer =>
  ({
    type: 'SOA',
    class: 'IN',
    name: domain,
    ttl: clusterTtlSeconds,
    data: {
      mname: `ns.dns.${domain}`,
      rname: `hostmaster.${domain}`,
      serial: 1,
      refresh: 7200,
      retry: 1800,
      expire: 86400,
      minimum: clusterTtlSeconds,
    },
  }) as PacketAnswer;

function decodeQuery(message: Buffer): DecodedPacket | undefined {
  try {
    const packet = decode(message);
    return packet.type === 'query' ? packet : undefined;
  } catch {
    return undefined;
  }
}

/** What is said to those whom the server does not serve (RFC 5358): no longer than the question, whoever the sender was said to be. */
export function refusal(message: Buffer): Buffer | undefined {
  if (message.length < 12 || (message.readUInt16BE(2) & 0x8000) !== 0) return undefined;
  const reply = failure(message, rcodes.REFUSED, decodeQuery(message));
  return reply.length > message.length ? failure(message, rcodes.REFUSED) : reply;
}

/** What the client can take over UDP: 512 bytes, or what its EDNS record says (RFC 6891). */
function payloadLimit(query: DecodedPacket): number {
  const options = query.additionals?.find((record) => record.type === 'OPT');
  const asked = options && 'udpPayloadSize' in options ? Number(options.udpPayloadSize) : udpPayloadBytes;
  return Math.min(Math.max(asked, udpPayloadBytes), udpPayloadBytesMax);
}

/** Cuts an answer that is too long to its question, marked truncated, so that the client asks over TCP. */
function fit(answer: Buffer, limit: number, query: Buffer): Buffer {
  if (answer.length <= limit) return answer;
  const packet = decode(query);
  return encode({
    type: 'response',
    id: packet.id ?? 0,
    flags: authoritativeAnswer | recursionAvailable | TRUNCATED_RESPONSE,
    questions: packet.questions ?? [],
  });
}

/** A reply that only carries a code, with the question where it could be read. */
function failure(message: Buffer, rcode: number, query?: DecodedPacket): Buffer {
  const desired = message.readUInt16BE(2) & recursionDesired;
  if (query)
    return encode({
      type: 'response',
      id: query.id ?? 0,
      flags: recursionAvailable | desired | rcode,
      questions: query.questions ?? [],
    });
  const header = Buffer.alloc(12);
  message.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8000 | recursionAvailable | desired | rcode, 2);
  return header;
}
