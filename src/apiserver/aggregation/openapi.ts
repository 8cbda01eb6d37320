// OpenAPI of other API servers (k8s.io/kube-aggregator/pkg/controllers/openapi and openapiv3): v2 is read and merged into one document; of v3
// the index is merged, and documents are asked for where they are.
import { createHash } from '../platform/crypto.ts';
import { paced } from '#host';
import type { Clock, Steps } from '#utils';
import type { Incoming } from '../chain/incoming.ts';
import type { Outcome } from '../chain/outcome.ts';
import { readingJson, writingJson } from '#apimachinery/schema';
import { remoteOpenApiBytesMax, remoteOpenApiMs, remoteOpenApiValuesMax } from '../limits.ts';
import { forward } from './forward.ts';
import { type Headers, identityHeaders } from './identity.ts';
import { keyedLoop } from './keyed-loop.ts';
import { filterV2, type Json, objectOf, v3FromV2 } from '../endpoints/openapi/merge.ts';
import type { Remote, RemoteConnections, RemoteTable } from './remotes.ts';

const user = { name: 'system:aggregator', groups: [] };

type Index = Record<string, { serverRelativeURL: string }>;

/** A document of another server, whose values have to be as many, and as deep, as can be looked at. */
const reading = (text: string): Steps<unknown> => readingJson(text, { valuesMax: remoteOpenApiValuesMax });

function* filteredV2(text: string, prefix: string): Steps<Json> {
  return yield* filterV2(yield* reading(text), prefix);
}

function* convertedV3(v2: Json): Steps<string> {
  return yield* writingJson(yield* v3FromV2(v2));
}

/** The index of OpenAPI v3. An entry of another shape is left out. */
function indexOf(document: unknown): Index {
  const entries = Object.entries(objectOf(objectOf(document)['paths'])).flatMap(([name, value]): [string, Index[string]][] => {
    const { serverRelativeURL } = objectOf(value);
    return typeof serverRelativeURL === 'string' ? [[name, { serverRelativeURL }]] : [];
  });
  return Object.fromEntries(entries);
}

interface Known {
  v2: Json | undefined;
  etag: string;
  /** Name of a document -> where it is. */
  v3: Index;
  /** The server knows v2 only: its document, made from that. */
  converted?: Buffer;
}

export interface OpenApiDeps {
  remotes: RemoteTable;
  connections: RemoteConnections;
  clock: Clock;
  /** `--request-timeout`. */
  requestTimeoutMs: number;
  /** A pause in which others go on: documents may be large. */
  rest(): Promise<void> | undefined;
  onChange(): void;
}

export class RemoteOpenApi {
  readonly #deps: OpenApiDeps;
  readonly #known = new Map<string, Known>();

  constructor(deps: OpenApiDeps) {
    this.#deps = deps;
  }

  follow(signal: AbortSignal): void {
    const { remotes, clock } = this.#deps;
    const loop = keyedLoop({ clock, signal, pauses: remoteOpenApiMs, run: (name) => this.#sync(name) });
    const changed = (name: string): void => {
      if (remotes.get(name)) return void loop.add(name);
      loop.forget(name);
      if (this.#known.delete(name)) this.#deps.onChange();
    };
    remotes.onChange(changed);
    for (const { name } of remotes.all()) changed(name);
  }

  /** Specifications to merge, those of higher priority first. */
  specsV2(): Json[] {
    const sorted = this.#deps.remotes.all().sort((a, b) => b.groupPriority - a.groupPriority || (a.name < b.name ? -1 : 1));
    return sorted.map(({ name }) => this.#known.get(name)?.v2).filter((spec) => spec !== undefined);
  }

  indexV3(): Index {
    return Object.fromEntries([...this.#known.values()].flatMap(({ v3 }) => Object.entries(v3)));
  }

  /** A document that is another server's; undefined: none has it. */
  async serveV3(request: Incoming, document: string): Promise<Outcome | undefined> {
    for (const [name, { v3, converted }] of this.#known) {
      const remote = this.#deps.remotes.get(name);
      if (!remote || !Object.hasOwn(v3, document)) continue;
      if (!converted) return forward(request, this.#deps.connections, remote);
      return { is: 'bytes', status: 200, type: 'application/json', body: converted, headers: { vary: 'Accept' } };
    }
    return undefined;
  }

  async #sync(name: string): Promise<void> {
    const remote = this.#deps.remotes.get(name);
    if (!remote) return;
    const known = this.#known.get(name);
    const next = { ...(await this.#readV2(remote, known)), ...(await this.#readV3(remote)) };
    if (!next.v3) Object.assign(next, await this.#convert(remote, next.v2));
    if (!this.#deps.remotes.get(name)) return;
    this.#known.set(name, { ...next, v3: next.v3 ?? {} });
    if (known?.etag !== next.etag || JSON.stringify(known?.v3) !== JSON.stringify(next.v3)) this.#deps.onChange();
  }

  async #readV2(remote: Remote, known: Known | undefined): Promise<Pick<Known, 'v2' | 'etag'>> {
    const { status, text, etag } = await this.#get(remote, '/openapi/v2', {
      accept: 'application/json',
      ...(known && known.etag !== '' && { 'if-none-match': known.etag }),
    });
    if (status === 304 && known) return { v2: known.v2, etag: known.etag };
    // Without a specification a server is served all the same.
    if (status === 404) return { v2: undefined, etag: '' };
    if (status !== 200) throw new Error(`failed to retrieve openAPI spec, http error: ${status}`);
    const { rest } = this.#deps;
    await rest();
    const v2 = await paced(filteredV2(text, `${remote.path}/`), rest);
    await rest();
    return { v2, etag: etag || createHash('sha256').update(text).digest('hex') };
  }

  async #readV3(remote: Remote): Promise<Partial<Pick<Known, 'v3'>>> {
    const { status, text } = await this.#get(remote, '/openapi/v3', { accept: 'application/json' });
    if (status === 404) return {};
    if (status !== 200) throw new Error(`failed to retrieve openAPI v3 index, http error: ${status}`);
    return { v3: indexOf(await paced(reading(text), this.#deps.rest)) };
  }

  async #convert({ path }: Remote, v2: Json | undefined): Promise<Partial<Known>> {
    if (!v2) return {};
    const { rest } = this.#deps;
    await rest();
    const converted = Buffer.from(await paced(convertedV3(v2), rest));
    await rest();
    const document = path.slice(1);
    const hash = createHash('sha512').update(converted).digest('hex').toUpperCase();
    return { converted, v3: { [document]: { serverRelativeURL: `/openapi/v3/${document}?hash=${hash}` } } };
  }

  async #get(remote: Remote, path: string, headers: Headers): Promise<{ status: number; text: string; etag: string }> {
    if (!remote.available) throw new Error('service unavailable');
    const { client } = this.#deps.connections.to(remote);
    const signal = AbortSignal.timeout(this.#deps.requestTimeoutMs);
    const answer = await client.request({ path, headers: { ...headers, ...identityHeaders(user) }, signal });
    return { status: answer.status, text: await answer.text(remoteOpenApiBytesMax), etag: answer.headers.etag ?? '' };
  }
}
