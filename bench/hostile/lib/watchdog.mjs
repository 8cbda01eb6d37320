// Loaded into a server that is measured (NODE_OPTIONS=--import=...): tells how long its main thread was held. A timer is due every few
// milliseconds, so the thread's CPU time between two ticks is that of one turn and a little more. Other programs do not count in it. Each hold
// is a line of the file that SAGONG_WATCHDOG names: when it ended, and its milliseconds.
import { appendFileSync, openSync, readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env.SAGONG_WATCHDOG;
const everyMs = 2;
const shownMs = 5;

if (file && isMainThread) {
  const schedule = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const read = Buffer.alloc(64);
  const threadMs = () => Number(read.toString('latin1', 0, readSync(schedule, read, 0, 64, 0)).split(' ')[0]) / 1e6;
  let before = threadMs();
  setInterval(() => {
    const now = threadMs();
    if (now - before > shownMs) appendFileSync(file, `${Date.now()} ${Math.round(now - before)}\n`);
    before = now;
  }, everyMs).unref();
}
