// V8's optimising compiler while a program starts. Nearly all code of a start runs a few times only: what V8 makes fast on its other threads is a
// tenth of the CPU of a start, and most of it is not used again.
import { setFlagsFromString } from 'node:v8';

/** V8 11, of Node 20, as `node --v8-options` prints it: a running program cannot ask for a default. Later versions are left as they are. */
const budget = { v8: '11', flag: '--interrupt-budget', usual: 67_584, duringStart: 540_672 };
const startMs = 2_500;

/** Has V8 optimise later than usual until the program has started. For programs only: V8's flags are those of the whole process. */
export async function optimizeLater(): Promise<void> {
  const { v8, flag, usual, duringStart } = budget;
  if (process.versions.v8.split('.')[0] !== v8) return;
  // V8 refuses the compiled code that Node brings for its own modules while flags are changed. A start needs these, and would load them later.
  await import('./late-modules.ts');
  setFlagsFromString(`${flag}=${duringStart}`);
  setTimeout(() => setFlagsFromString(`${flag}=${usual}`), startMs).unref();
}
