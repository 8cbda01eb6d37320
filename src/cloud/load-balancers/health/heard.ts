// Whether a target has said something lately to anybody: what the kernel of a router knows of the connections that HAProxy has with it (ss(8)).
import type { Exec } from '#utils';
import { limits } from '../limits.ts';

/** Whether bytes came from a port of a host within the last milliseconds. */
export type Heard = (host: string, port: number, withinMs: number) => Promise<boolean>;

/**
 * Reads one connection a line. The kernel counts a connection that was just made as heard of, also where the other end is paused: only bytes count. What
 * came this very millisecond has no `lastrcv`.
 */
export const heardIn = (text: string, withinMs: number): boolean =>
  text.split('\n').some((line) => / bytes_received:\d/.test(line) && Number(/ lastrcv:(\d+)/.exec(line)?.[1] ?? 0) < withinMs);

export const createHeard =
  (exec: Exec, netns: string): Heard =>
  async (host, port, withinMs) => {
    const words = ['ss', '-O', '-Htni', 'state', 'established', 'dst', `${host}:${port}`];
    const { stdout } = await exec('nsenter', [`--net=/run/netns/${netns}`, ...words], { timeoutMs: limits.commandTimeoutMs });
    return heardIn(stdout, withinMs);
  };
