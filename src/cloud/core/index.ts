// The cloud's decisions: worlds in, worlds out. Pure.
export { apply, type ChangeId, type Command, isChange } from './apply.ts';
export type { Outcome } from './command.ts';
export type { Account, Context, Settings } from './context.ts';
export { quotas, type Quotas, terminatedKeepMs } from './limits.ts';
export { loopbackKey } from './load-balancers.ts';
export { problemsOf } from './check.ts';
export { forget, observe } from './observe.ts';
export { isRead, read } from './read.ts';
export { type NameAnswer, type Question, type ResourceRecord, resolveName } from './resolve-name.ts';
export { type Collection, collections, type ItemOf } from './world.ts';
