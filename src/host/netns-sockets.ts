// Presence in a network namespace of this machine without living there: a small helper inside it makes listening or connected sockets and
// hands them to this process, which so serves and dials there in its own event loop (setns(2) moves threads, which Node's are not for).
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Server, Socket } from 'node:net';
import { limits } from './limits.ts';

/** Runs in the helper; plain JavaScript because it is given to `node -e`. The first argument marks whose process it is. */
const helperSource = `
const net = require('node:net'), dgram = require('node:dgram');
const answer = (id, handle, error) => process.send({ id, error: error && String(error.message || error) }, handle, () => { if (handle && handle.destroy) handle.destroy(); });
process.on('message', ({ id, op, host, port, timeoutMs }) => {
  if (op === 'listen') {
    const server = net.createServer({ pauseOnConnect: true });
    server.once('error', (error) => answer(id, undefined, error));
    server.listen({ host, port, backlog: 511 }, () => process.send({ id, port: server.address().port }, server, () => server.close()));
  } else if (op === 'bind') {
    const socket = dgram.createSocket('udp4');
    socket.once('error', (error) => answer(id, undefined, error));
    socket.bind(port, host, () => process.send({ id }, socket, () => socket.close()));
  } else if (op === 'connect') {
    const socket = net.connect({ host, port, timeout: timeoutMs });
    const fail = (error) => { socket.destroy(); answer(id, undefined, error); };
    socket.once('error', fail);
    socket.once('timeout', () => fail(new Error('connect ETIMEDOUT ' + host + ':' + port)));
    socket.once('connect', () => { socket.removeAllListeners(); socket.on('error', () => {}); socket.pause(); process.send({ id }, socket, { keepOpen: false }); });
  }
});
process.on('disconnect', () => process.exit(0));
process.send({ id: 0 });
`;

type Handle = Server | Socket | DatagramSocket;
type Waiting = Map<number, { resolve(handle: Handle | undefined): void; reject(error: Error): void }>;
interface Answer {
  id: number;
  error?: string;
  port?: number;
}

export interface NetnsSockets {
  /** A server listening in the namespace; give it to another server's `listen(handle)`. */
  listen(host: string, port: number): Promise<Server>;
  bindUdp(host: string, port: number): Promise<DatagramSocket>;
  /** A connected socket whose other end is seen from the namespace. */
  connect(host: string, port: number): Promise<Socket>;
  /** Ends the helper. Sockets that were handed over live on. */
  close(): void;
}

/**
 * Starts the helper in a network namespace, named as in `ip netns`. `mark` is shown in its command line. Rejects when that cannot be done.
 * A helper that dies costs what was asked of it at that moment; the next question starts another one.
 */
export async function joinNetns(netns: string, mark: string): Promise<NetnsSockets> {
  const sockets = new LastingSockets(netns, mark);
  await sockets.helper();
  return sockets;
}

class LastingSockets implements NetnsSockets {
  readonly #netns: string;
  readonly #mark: string;
  #helper: Promise<HelperSockets> | undefined;
  #closed = false;

  constructor(netns: string, mark: string) {
    this.#netns = netns;
    this.#mark = mark;
  }
  /** The helper that lives, or a new one. */
  helper(): Promise<HelperSockets> {
    if (this.#closed) return Promise.reject(new Error(`the helper in network namespace ${this.#netns} was ended`));
    if (this.#helper) return this.#helper;
    const started = startHelper(this.#netns, this.#mark, () => {
      if (this.#helper === started) this.#helper = undefined;
    });
    this.#helper = started;
    started.catch(() => {
      if (this.#helper === started) this.#helper = undefined;
    });
    return started;
  }
  async listen(host: string, port: number): Promise<Server> {
    return (await this.helper()).listen(host, port);
  }
  async bindUdp(host: string, port: number): Promise<DatagramSocket> {
    return (await this.helper()).bindUdp(host, port);
  }
  async connect(host: string, port: number): Promise<Socket> {
    return (await this.helper()).connect(host, port);
  }
  close(): void {
    this.#closed = true;
    void this.#helper?.then(
      (helper) => helper.close(),
      () => {},
    );
  }
}

async function startHelper(netns: string, mark: string, onExit: () => void): Promise<HelperSockets> {
  const child = spawn('nsenter', [`--net=/run/netns/${netns}`, process.execPath, '-e', helperSource, mark], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  // Its complaints are reported by the code that asked it; nobody else could make use of them.
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-limits.netnsComplaintChars);
  });
  const ended = (): Error =>
    new Error(`the helper in network namespace ${netns} has ended${complaint === '' ? '' : `: ${complaint.trim()}`}`);
  const waiting: Waiting = new Map();
  child.on('message', (message: Answer, handle: Handle | undefined) => {
    const caller = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) caller?.reject(new Error(message.error));
    else caller?.resolve(handle);
  });
  const over = (error: Error): void => {
    onExit();
    for (const caller of waiting.values()) caller.reject(error);
    waiting.clear();
  };
  child.on('error', over);
  child.once('disconnect', onExit);
  // Only then has it said all that it had to say.
  child.once('close', () => over(ended()));
  await new Promise<void>((resolve, reject) => {
    waiting.set(0, { resolve: () => resolve(), reject });
  });
  return new HelperSockets(child, waiting, netns);
}

class HelperSockets implements NetnsSockets {
  readonly #child: ChildProcess;
  readonly #waiting: Waiting;
  readonly #netns: string;
  #next = 1;

  constructor(child: ChildProcess, waiting: Waiting, netns: string) {
    this.#child = child;
    this.#waiting = waiting;
    this.#netns = netns;
  }
  listen(host: string, port: number): Promise<Server> {
    return this.#ask<Server>({ op: 'listen', host, port });
  }
  bindUdp(host: string, port: number): Promise<DatagramSocket> {
    return this.#ask<DatagramSocket>({ op: 'bind', host, port });
  }
  connect(host: string, port: number): Promise<Socket> {
    return this.#ask<Socket>({ op: 'connect', host, port, timeoutMs: limits.netnsConnectTimeoutMs });
  }
  close(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
  #ask<T extends Handle>(request: Record<string, unknown>): Promise<T> {
    const id = this.#next++;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, {
        resolve: (handle) =>
          handle
            ? resolve(handle as T)
            : reject(new Error(`${String(request['op'])} in network namespace ${this.#netns} gave no socket`)),
        reject,
      });
      this.#child.send({ id, ...request }, (error) => {
        if (!error) return;
        this.#waiting.delete(id);
        reject(error);
      });
    });
  }
}
