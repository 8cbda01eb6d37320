// Connections made inside a router's namespace. The helper that makes them is started when first needed, and anew when it or its namespace is
// another.
import type { Socket } from 'node:net';
import { joinNetns, type NetnsSockets } from '#host';
import { netnsId } from '../netns.ts';
import { type Dial, ProbeUnavailable } from './probe.ts';

export interface NetnsDial {
  dial: Dial;
  close(): void;
}

/** Errors of the connection itself; all others are the helper's. */
const isOfTarget = (error: unknown): boolean => error instanceof Error && error.message.startsWith('connect ');

/** Makes a function that connects from inside a network. `mark` is part of the command line of its helper. */
export function createNetnsDial(netns: string, mark: string): NetnsDial {
  interface Helper {
    id: number;
    sockets: Promise<NetnsSockets>;
  }
  let current: Helper | undefined;
  let closed = false;
  const drop = (helper: Helper | undefined): void => {
    if (current === helper) current = undefined;
    void helper?.sockets.then(
      (sockets) => sockets.close(),
      () => {},
    );
  };
  const join = (): Helper => {
    const id = netnsId(netns);
    if (closed || id === undefined) throw new ProbeUnavailable(`there is no network namespace ${netns}`);
    if (current && current.id !== id) drop(current);
    current ??= { id, sockets: joinNetns(netns, mark) };
    return current;
  };
  const dial = async (host: string, port: number): Promise<Socket> => {
    const helper = join();
    try {
      return await (await helper.sockets).connect(host, port);
    } catch (error) {
      if (isOfTarget(error)) throw error;
      drop(helper);
      throw new ProbeUnavailable(String(error));
    }
  };
  return {
    dial,
    close() {
      closed = true;
      drop(current);
    },
  };
}
