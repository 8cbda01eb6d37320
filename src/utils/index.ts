// The interfaces through which every room meets the outside world, and small pure tools.
// Node implementations live in `#host`; virtual ones in `#testing`. Nothing here may import anything.
export type { Clock, Timer } from './clock.ts';
export type { Rng } from './rng.ts';
export { seededRng } from './rng.ts';
export type { Logger } from './logger.ts';
export { silentLogger } from './logger.ts';
export type { Exec, ExecOptions, ExecResult } from './exec.ts';
export { assert, unreachable } from './assert.ts';
export { deepCopy } from './deep-copy.ts';
export { deepEqual } from './deep-equal.ts';
export { assignOwn, own, setOwn } from './own.ts';
export { isPrint, quote } from './quote.ts';
export { isOneOf } from './membership.ts';
export { once } from './once.ts';
export { parseGoInt } from './go-int.ts';
export { goPrint, goString, goSyntax, goTypeName, isInt64 } from './go-print.ts';
export { finish, type Steps } from './steps.ts';
export { withoutTrailing } from './trailing.ts';
export { firstOfEach, repeats } from './repeats.ts';
export { visible, visibleInLine } from './visible.ts';
