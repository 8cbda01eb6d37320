// Names of finalizers that may clash with those of others (k8s.io/apiextensions-apiserver/pkg/registry/customresource, WarningsOnCreate).
import type { ObjectMeta } from '#apimachinery/meta';
import { isQualifiedName } from '#apimachinery/validation';

const standard = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** The warnings of finalizers that `before` did not have. */
export function finalizerWarnings({ finalizers = [] }: ObjectMeta, before: ObjectMeta | undefined): string[] {
  const added = [...new Set(finalizers)].filter((name) => !before?.finalizers?.includes(name)).sort();
  return added.flatMap((name) => {
    const start = `metadata.finalizers: ${JSON.stringify(name)}: `;
    const problems = isQualifiedName(name).map((problem) => start + problem);
    if (name.includes('/') || standard.has(name)) return problems;
    const path = name.includes('.') ? ' including a path (/)' : '';
    const hint = `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
    return [...problems, start + hint];
  });
}
