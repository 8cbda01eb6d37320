// Every built-in kind with rules of its own, with what all built-in kinds have in common added to each.
import { builtin } from './common/builtin.ts';
import { kinds } from './kinds.gen.ts';

/** The definitions of all built-in kinds. */
export const builtinKinds = kinds.map(builtin);
