// What the kernel knows of a process: CPU time and memory. Other programs on the machine do not count in CPU time, though a busy machine makes it
// a little larger (caches, and the other thread of a core).
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

let ticks;
const ticksPerSecond = () => (ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })));

/** Milliseconds of user and system time of all its threads. */
export function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond();
}

/** Resident memory in MB (of a million bytes). */
export const residentMb = (pid) => (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024) / 1e6;

export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
