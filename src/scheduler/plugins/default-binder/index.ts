// Binds a pod with the pods/binding subresource; the shell makes the call (upstream plugins/defaultbinder).
import type { Plugin } from '../../framework/index.ts';

export const defaultBinder = (): Plugin => ({ name: 'DefaultBinder', binds: true });
