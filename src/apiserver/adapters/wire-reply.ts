// Answers over a connection: the outcome in the encoding and shape that were agreed on before anything was done.
import { supportsProtobuf } from '#apimachinery/codec';
import { notAcceptable, type StatusError } from '#apimachinery/errors';
import type { SchemaTable } from '#apimachinery/schema';
import { isWebSocketRequest, type ResponseHeaders, type WireRequest, type WireResponse, type WireUpgrade } from '#wire';
import type { Reply, Shown } from '../chain/incoming.ts';
import type { DocumentOutcome, Outcome } from '../chain/outcome.ts';
import { mediaTypes, type Negotiated, negotiate, negotiateStatus } from '../endpoints/negotiation.ts';
import { sendList } from '../endpoints/list-answer.ts';
import { type Answer, plainJson, sendBytes, sendStatus, sendStored, sendValue } from '../endpoints/respond.ts';
import { scaleTable } from '../endpoints/scale-table.ts';
import { negotiateSpecial, sendSpecial } from '../endpoints/special-answer.ts';
import { type IncludeObject, includeObjectOf } from '../endpoints/table.ts';
import { frameMaker } from '../endpoints/watch-frames.ts';
import { WatchStream } from '../endpoints/watch-stream.ts';
import type { WriteSettings } from '../registry/generic/types.ts';
import type { Notes, RequestRecord } from '../request/notes.ts';
import type { RequestData } from '../request/request.ts';
import { watchSocket } from './watch-socket.ts';
import { announcing, announcingUpgrade } from './announcing.ts';
import type { AnswerContext } from '../endpoints/answer-context.ts';
import { answerStallMs, waitingAnswersMax } from '../limits.ts';
import type { WireExchange } from './wire.ts';

/** Text as a header may carry it: its UTF-8 bytes. */
const headerText = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
/** Upstream says nothing of a warning that no header can carry. */
const fitsHeader = (text: string): boolean => !/\p{Cc}/u.test(text);

/** Agent 299 (k8s.io/apiserver/pkg/warning). */
const warningHeader = (message: string): string => `299 - "${headerText(message).replace(/["\\]/g, '\\$&')}"`;

const header = (value: string | readonly string[] | undefined): string =>
  typeof value === 'string' ? value : (value?.join(',') ?? '');

const noQuery = new URLSearchParams();

const forbiddenCodes = new Set([400, 403]);
/** What turns a known user away before the endpoint forbids guessing at its type, as upstream's responsewriters.Forbidden. */
const noSniff: ResponseHeaders = { 'x-content-type-options': 'nosniff' };

const streamable = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
const streamTypes: Record<Negotiated['encoding'], string> = {
  json: mediaTypes.json,
  yaml: mediaTypes.yaml,
  protobuf: `${mediaTypes.protobuf};stream=watch`,
};

/** Answers of this process that wait for their clients to take a part of them. */
let waitingAnswers = 0;

export class WireReply implements Reply, Answer {
  readonly schema: SchemaTable;
  readonly now: number;
  response: WireResponse;
  upgrade: WireUpgrade | undefined;
  readonly #context: AnswerContext;
  readonly #data: RequestData;
  readonly #notes: Notes;
  readonly #wire: WireRequest;
  readonly #rest: WriteSettings['rest'];
  #agreed: Negotiated = plainJson;
  #switched = false;
  #onWait: (() => void) | undefined;
  #onSwitch: (() => void) | undefined;

  constructor(context: AnswerContext, data: RequestData, notes: Notes, { request, response, upgrade }: WireExchange) {
    this.schema = context.schema;
    this.now = data.now;
    this.response = response;
    this.upgrade = upgrade && announcingUpgrade(upgrade, () => this.#switch());
    this.#context = context;
    this.#rest = context.restOf(data);
    this.#data = data;
    this.#notes = notes;
    this.#wire = request;
  }

  get accept(): string {
    return header(this.#data.headers['accept']);
  }
  get query(): URLSearchParams {
    return this.#data.query === '' ? noQuery : new URLSearchParams(this.#data.query);
  }
  get userAgent(): string {
    return this.#data.userAgent;
  }
  get acceptsGzip(): boolean {
    return /\bgzip\b/.test(header(this.#data.headers['accept-encoding']));
  }
  get audit(): RequestRecord | undefined {
    return this.#notes.audit;
  }
  get status(): number {
    return this.#switched ? 101 : this.response.status;
  }
  get over(): boolean {
    return this.#switched || this.response.headSent || this.response.destroyed;
  }
  get streaming(): boolean {
    return this.#switched ? !this.#wire.signal.aborted : this.response.headSent && !this.response.destroyed;
  }

  sent(bytes: number): void {
    this.#notes.sentBytes += bytes;
  }

  #switch(): void {
    this.#switched = true;
    this.#onWait?.();
    this.#onSwitch?.();
  }

  /** Headers of every answer, with the warnings so far. */
  headers(): ResponseHeaders {
    const { warnings, flow } = this.#notes;
    const headers = {
      'audit-id': this.#data.auditId,
      'cache-control': 'no-cache, private',
      ...(flow && { 'x-kubernetes-pf-flowschema-uid': flow.schema, 'x-kubernetes-pf-prioritylevel-uid': flow.level }),
    };
    const said = warnings.filter(fitsHeader);
    return said.length === 0 ? headers : { ...headers, warning: said.map(warningHeader) };
  }

  onStart(callback: (status: number) => void): void {
    this.response = announcing(this.response, callback);
    this.#onSwitch = () => callback(101);
  }

  onEnd(callback: () => void): void {
    this.#wire.onClose(callback);
  }

  onWait(callback: () => void): void {
    this.#onWait = callback;
  }

  rest(): Promise<void> | undefined {
    return this.#rest();
  }

  async drained(): Promise<void> {
    // So many may wait for their clients at once without a seat; those beyond keep theirs, which bounds what all of them hold.
    if (waitingAnswers < waitingAnswersMax) this.#onWait?.();
    const { response } = this;
    const stalled = this.#context.clock.setTimer(answerStallMs, () => response.destroy());
    waitingAnswers++;
    await response.drain();
    waitingAnswers--;
    stalled.cancel();
  }

  agree(shown: Shown): void {
    const { accept, query, userAgent } = this;
    if (shown === 'document' || shown === 'unrouted document') {
      const unrouted = shown === 'unrouted document';
      this.#agreed = { ...negotiate(accept, { tables: false, unrouted, protobuf: true, listable: false }, query, userAgent) };
    } else if ('special' in shown) this.#agreed = negotiateSpecial(this, shown.special);
    else {
      const { custom, group, version, kind } = shown.resource;
      const protobuf = supportsProtobuf(this.schema, { group, version, kind });
      const rules = { tables: shown.tables, unrouted: custom, protobuf, listable: shown.collection };
      this.#agreed = negotiate(accept, rules, query, userAgent);
    }
  }

  /** How much of each object a table holds. Throws 400 for an unknown value, which upstream reports only once the object was found. */
  #include(): IncludeObject {
    return this.#agreed.as === 'Table' ? includeObjectOf(this.query) : 'Metadata';
  }

  async send(outcome: Exclude<Outcome, { is: 'failed' }>): Promise<void> {
    if (outcome.is === 'answered' || this.over) return;
    const agreed = this.#agreed;
    switch (outcome.is) {
      case 'stored':
        return sendStored(this, outcome.status, outcome.resource, outcome.stored, agreed, this.#include());
      case 'list':
        return sendList(this, outcome.resource, outcome.page, agreed, this.#include());
      case 'value': {
        const { resource, value } = outcome;
        const asTable = agreed.as === 'Table' && value.kind === 'Scale';
        const shown = asTable ? scaleTable(resource.custom, value, agreed, this.#include(), this.now) : value;
        return sendValue(this, outcome.status, shown, agreed);
      }
      case 'special':
        return sendSpecial(this, outcome.special, outcome.status, outcome.value, agreed);
      case 'watch':
        return this.#watch(outcome);
      case 'document':
      case 'bytes':
        return this.#document(outcome);
      default:
        throw new Error(`${outcome.is} is only answered in memory`);
    }
  }

  fail(error: StatusError, forbidden: boolean): void {
    if (this.#switched || this.response.destroyed) return;
    if (this.response.headSent) return this.response.destroy();
    const negotiated = negotiateStatus(this.accept, this.query, this.userAgent);
    sendStatus(this, error, negotiated, forbidden && forbiddenCodes.has(error.status.code ?? 0) ? noSniff : {});
  }

  #document(outcome: DocumentOutcome): void {
    if (outcome.is === 'document') {
      const form = outcome.form === 'indented' ? { ...plainJson, pretty: true } : { ...this.#agreed };
      delete form.as;
      return sendValue(this, outcome.status, outcome.value, form);
    }
    const { status, type, body, headers = {}, uncompressed, shared = false } = outcome;
    if (!uncompressed && type !== '') return sendBytes(this, status, type, bufferOf(body), headers, shared);
    this.response.send(status, { ...this.headers(), ...(type !== '' && { 'content-type': type }), ...headers }, body);
  }

  async #watch({ resource, start, options }: Extract<Outcome, { is: 'watch' }>): Promise<void> {
    const negotiated = this.#agreed;
    const { clock, schema, feed, watches, watchEvents, watchTimeoutMinMs, random } = this.#context;
    const { encoding } = negotiated;
    if (encoding === 'yaml') throw notAcceptable(streamable);
    const response =
      this.upgrade && isWebSocketRequest(this.upgrade) ? watchSocket(this.upgrade, encoding, () => stream.stop()) : this.response;
    if (!response) return;
    const headers = { ...this.headers(), 'content-type': streamTypes[negotiated.encoding] };
    const seconds = options.timeoutSeconds ?? 0;
    // No event can be shown as a list: upstream ends the stream at the first. A time below zero is over before it begins.
    if (negotiated.as === 'PartialObjectMetadataList' || seconds < 0) return response.send(200, headers, '');
    const stream = new WatchStream({
      response,
      headers,
      start,
      frames: frameMaker(resource, schema, negotiated, this.#include(), () => clock.now()),
      bookmarks: options.allowWatchBookmarks,
      timeoutMs: seconds > 0 ? seconds * 1000 : watchTimeoutMinMs * (1 + random.fraction()),
      revision: () => feed.revision,
      clock,
      rest: this.#rest,
      onEvent: watchEvents(resource),
      onEnd: watches.add(() => stream.end()),
    });
    this.#wire.onClose(() => stream.stop());
    await stream.run();
  }
}

/** The body as a Buffer over its own memory, not a copy: documents are large, and many may be on their way to clients that do not read. */
const bufferOf = (body: Uint8Array | string): Buffer =>
  typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
