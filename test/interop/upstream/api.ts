// The smallest client there can be: JSON over HTTPS with a token. It knows nothing of either side's code.
import { Agent, request } from 'node:https';

export interface Item {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    labels?: Record<string, string>;
    ownerReferences?: { name: string; kind: string }[];
  };
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
  [field: string]: unknown;
}

export class Api {
  readonly url: string;
  readonly #token: string;
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

  constructor(url: string, token: string) {
    this.url = url;
    this.#token = token;
  }

  raw(method: string, path: string, body?: unknown, type = 'application/json'): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const content = body === undefined ? '' : JSON.stringify(body);
      // Node gives a DELETE with a body no length of its own accord.
      const entity = { 'content-type': type, 'content-length': Buffer.byteLength(content) };
      const headers = { authorization: `Bearer ${this.#token}`, accept: 'application/json', ...entity };
      const sent = request(`${this.url}${path}`, { agent: this.#agent, method, headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(content);
    });
  }

  /** The answered object; throws with the answer when it is an error. */
  async call<T = Item>(method: string, path: string, body?: unknown, type?: string): Promise<T> {
    const { status, text } = await this.raw(method, path, body, type);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return JSON.parse(text) as T;
  }

  get<T = Item>(path: string): Promise<T> {
    return this.call<T>('GET', path);
  }
  create(path: string, object: unknown): Promise<Item> {
    return this.call('POST', path, object);
  }
  patch(path: string, patch: unknown): Promise<Item> {
    return this.call('PATCH', path, patch, 'application/merge-patch+json');
  }
  delete(path: string, options: unknown = {}): Promise<unknown> {
    return this.call('DELETE', path, options);
  }
  async list(path: string): Promise<Item[]> {
    return (await this.call<{ items: Item[] }>('GET', path)).items;
  }
  async isGone(path: string): Promise<boolean> {
    return (await this.raw('GET', path)).status === 404;
  }
}
