// What the processes of a cluster use, looked at every second: memory by name, and CPU time.
import { cpuMs, residentMb } from '../lib/process.mjs';

const everyMs = 1_000;
const orNone = (read) => {
  try {
    return read();
  } catch {
    return 0;
  }
};

/**
 * `take()` answers the largest memory in MB since the last time (`all`: of all processes at one moment, the others by name), and seconds of CPU.
 * `end()` ends it.
 */
export function watchUsage(members) {
  let most = {};
  let seconds = 0;
  const before = new Map();
  const look = () => {
    let all = 0;
    for (const { name, child } of members) {
      const mb = orNone(() => residentMb(child.pid));
      const ms = orNone(() => cpuMs(child.pid));
      all += mb;
      most[name] = Math.max(most[name] ?? 0, mb);
      // A process that was started again counts from nothing.
      seconds += Math.max(0, ms - (before.get(child.pid) ?? 0)) / 1000;
      before.set(child.pid, ms);
    }
    most.all = Math.max(most.all ?? 0, all);
  };
  look();
  const timer = setInterval(look, everyMs);
  return {
    take() {
      look();
      const taken = { most, seconds };
      [most, seconds] = [{}, 0];
      return taken;
    },
    end: () => clearInterval(timer),
  };
}
