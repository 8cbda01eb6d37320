// A steady load of writes through the front door of a cluster, which remembers what was acknowledged and how long clients had to wait.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { parse } from 'yaml';

interface Kubeconfig {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
  users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
}

export interface Answer {
  status: number;
  body: string;
}

/** Requests over connections of its own, as the administrator of a kubeconfig. */
export class Caller {
  readonly #server: string;
  readonly #agent: Agent;
  constructor(kubeconfig: string) {
    const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
    const decode = (text = ''): Buffer => Buffer.from(text, 'base64');
    const [cluster, user] = [clusters[0]?.cluster, users[0]?.user];
    this.#server = cluster?.server ?? '';
    this.#agent = new Agent({
      keepAlive: true,
      ca: decode(cluster?.['certificate-authority-data']),
      cert: decode(user?.['client-certificate-data']),
      key: decode(user?.['client-key-data']),
    });
  }
  call(method: string, path: string, body?: object, timeoutMs = 30_000): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const sent = request(`${this.#server}${path}`, { method, headers, agent: this.#agent }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') }));
        response.on('error', reject);
      });
      sent.setTimeout(timeoutMs, () => sent.destroy(new Error(`no answer after ${timeoutMs} ms`)));
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
  close(): void {
    this.#agent.destroy();
  }
}

const collection = '/api/v1/namespaces/default/configmaps';

export class Writers {
  /** Names of the objects whose creation was acknowledged. */
  readonly acknowledged: string[] = [];
  /** What clients were told meanwhile, and how often. */
  readonly refusals = new Map<string, number>();
  readonly #callers: Caller[];
  readonly #restMs: number;
  readonly #loops: Promise<void>[];
  #stopped = false;
  #lastMs = performance.now();
  #gapMs = 0;
  #slowestMs = 0;

  /** `restMs`: of each writer between two writes. */
  constructor(kubeconfig: string, count: number, restMs = 0) {
    this.#restMs = restMs;
    this.#callers = Array.from({ length: count }, () => new Caller(kubeconfig));
    this.#loops = this.#callers.map((caller, index) => this.#write(caller, index));
  }
  /** Begins to measure. */
  mark(): void {
    this.#lastMs = performance.now();
    this.#gapMs = 0;
    this.#slowestMs = 0;
    this.refusals.clear();
  }
  /** Since `mark`: the longest time without any acknowledged write, and the longest that one client waited for one of its own. */
  get pauses(): { nobodyMs: number; slowestMs: number } {
    return {
      nobodyMs: Math.round(Math.max(this.#gapMs, performance.now() - this.#lastMs)),
      slowestMs: Math.round(this.#slowestMs),
    };
  }
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
    for (const caller of this.#callers) caller.close();
  }

  async #write(caller: Caller, writer: number): Promise<void> {
    for (let number = 0; !this.#stopped; number++) {
      const name = `write-${writer}-${number}`;
      const startedMs = performance.now();
      await this.#untilAcknowledged(caller, name);
      const now = performance.now();
      this.acknowledged.push(name);
      this.#gapMs = Math.max(this.#gapMs, now - this.#lastMs);
      this.#slowestMs = Math.max(this.#slowestMs, now - startedMs);
      this.#lastMs = now;
      if (this.#restMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#restMs));
    }
  }
  /** Those of the acknowledged writes that are not there. */
  async lost(kubeconfig: string): Promise<string[]> {
    const before = [...this.acknowledged];
    const there = await stored(kubeconfig);
    return before.filter((name) => !there.has(name));
  }
  /** Asks again until it is there: a try that had no answer may have been carried out. */
  async #untilAcknowledged(caller: Caller, name: string): Promise<void> {
    for (;;) {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
      const said = await caller.call('POST', collection, body).then(
        ({ status, body: text }) => (status === 201 || status === 409 ? '' : `${status} ${text.slice(0, 200)}`),
        (error: Error) => error.message,
      );
      if (said === '') return;
      this.refusals.set(said, (this.refusals.get(said) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Names of all objects that are there. */
export async function stored(kubeconfig: string): Promise<Set<string>> {
  const caller = new Caller(kubeconfig);
  try {
    const { body } = await caller.call('GET', collection);
    return new Set((JSON.parse(body) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name));
  } finally {
    caller.close();
  }
}
