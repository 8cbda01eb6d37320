// Node implementations of the interfaces in #utils: the one room with timers, files, processes and signals.
export { systemClock } from './clock.ts';
export { createTurns, createTurnstile, nextTurn, type Turns, type Turnstile } from './turns.ts';
export { createUtilization } from './utilization.ts';
export { systemRng } from './rng.ts';
export { ExecError, execCommand } from './exec.ts';
export { Descriptor, holding } from './descriptors/descriptor.ts';
export { type InsideOptions, openInside, OutsideError } from './descriptors/inside.ts';
export { removeTree, walkTree } from './descriptors/trees.ts';
export {
  atomicWrite,
  ensureDir,
  isErrno,
  namesIfExists,
  readFileIfExists,
  replaceFile,
  syncDir,
  type WatchFileOptions,
  watchFile,
} from './files.ts';
export { boundGarbage } from './heap.ts';
export { joinNetns, type NetnsSockets } from './netns-sockets.ts';
export { type Lock, LockHeldError, lockHolder, takeLock, withLock } from './lock.ts';
export { openLogFile } from './log-file.ts';
export { optimizeLater } from './optimizer.ts';
export { bootId, goArchitecture, type OsInfo, osInfo } from './os-info.ts';
export { atMost } from './at-most.ts';
export { paced } from './paced.ts';
export { pauseProgram } from './pause-program.ts';
export { listenerOf } from './unix-listener.ts';
export { onSignals, shutdownSignal, signalExitCode, type SignalName } from './signals.ts';
