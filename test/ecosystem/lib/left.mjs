// Processes that a run leaves behind: suites and tools start servers that they do not always end. Those of a run are known by a variable of their
// environment, which children inherit, also of parents that are gone; what other runs, the clusters or anybody else started does not have it.
import { readdirSync, readFileSync } from 'node:fs';

const variable = 'SAGONG_ECOSYSTEM_RUN';
const pollMs = 100;
const patienceMs = 10_000;

let runs = 0;

/** Has all processes that are started from now on carry a mark. `work`: the folder of this run of all tools, which makes it unique. */
export function markStarted(work) {
  runs += 1;
  process.env[variable] = `${work}/${runs}`;
}

/** What a file of a process says; nothing when the process is gone, or is a kernel's or another user's. */
function told(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

const numbered = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);

const marked = (mark) => numbered().filter((pid) => told(pid, 'environ').split('\0').includes(`${variable}=${mark}`));

function signal(pid, name) {
  try {
    process.kill(Number(pid), name);
  } catch {
    // It ended by itself.
  }
}

/** Ends the processes that carry the mark of now, if there is one, and takes it from those to come. */
export async function endLeft() {
  const mark = process.env[variable];
  delete process.env[variable];
  if (!mark) return;
  const left = marked(mark);
  if (left.length === 0) return;
  console.log(`ended what it left behind: ${left.map((pid) => told(pid, 'comm').trim()).sort().join(', ')}`);
  for (const pid of left) signal(pid, 'SIGTERM');
  const deadline = Date.now() + patienceMs;
  while (marked(mark).length > 0 && Date.now() < deadline) await new Promise((resume) => setTimeout(resume, pollMs));
  for (const pid of marked(mark)) signal(pid, 'SIGKILL');
}
