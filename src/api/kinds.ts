// Every built-in kind with rules of its own: one entry per folder `src/api/<group>/<kind>/` (test/kinds compares list and folders).
import type { KubeObject } from '#apimachinery/meta';
import { pod } from './core/pod/index.ts';
import { builtin } from './common/builtin.ts';
import type { KindDefinition } from './kind.ts';

const definitions: KindDefinition<never>[] = [pod] as unknown as KindDefinition<never>[];

/** The definitions of all built-in kinds. */
export const builtinKinds: KindDefinition<KubeObject>[] = definitions.map((definition) =>
  builtin(definition as unknown as KindDefinition<KubeObject>),
);
