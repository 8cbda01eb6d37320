// Loaded into a server that is measured (NODE_OPTIONS=--import=...): tells how long its main thread was held. A timer is due every few
// milliseconds, so the thread's CPU time between two ticks is that of one turn and a little more. Other programs do not count in it. Each hold
// is a line of the file that SAGONG_WATCHDOG names: when it ended, its milliseconds, and its first and last microsecond on the profiler's clock.
// Where SAGONG_WATCHDOG_PROFILE names a file, the process' CPU profile is written there when it gets SIGUSR2.
import { appendFileSync, openSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { isMainThread } from 'node:worker_threads';

const file = process.env.SAGONG_WATCHDOG;
const everyMs = 2;
const shownMs = 5;

if (file && isMainThread) {
  const schedule = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const read = Buffer.alloc(64);
  const threadMs = () => Number(read.toString('latin1', 0, readSync(schedule, read, 0, 64, 0)).split(' ')[0]) / 1e6;
  const clockUs = () => Number(process.hrtime.bigint() / 1000n);
  let before = threadMs();
  let begunUs = clockUs();
  setInterval(() => {
    const now = threadMs();
    const nowUs = clockUs();
    if (now - before > shownMs) appendFileSync(file, `${Date.now()} ${Math.round(now - before)} ${begunUs} ${nowUs}\n`);
    before = now;
    begunUs = nowUs;
  }, everyMs).unref();
  const profile = process.env.SAGONG_WATCHDOG_PROFILE;
  if (profile) {
    const session = new Session();
    session.connect();
    session.post('Profiler.enable');
    session.post('Profiler.start');
    process.on('SIGUSR2', () =>
      session.post('Profiler.stop', (_error, said) => {
        writeFileSync(`${profile}.part`, JSON.stringify(said.profile));
        renameSync(`${profile}.part`, profile);
      }),
    );
  }
}
