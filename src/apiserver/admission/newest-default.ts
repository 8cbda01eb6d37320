// Which of several objects marked as the default one counts: the newest, then the first by name (pkg/volume/util, networking).
import type { KubeObject } from '#apimachinery/meta';

/** The newest object that one of the annotations makes the default ("true"); undefined where none is. */
export function newestDefault<T extends KubeObject>(objects: readonly T[], annotations: readonly string[]): T | undefined {
  const created = ({ metadata }: T): string => metadata.creationTimestamp ?? '';
  return objects
    .filter(({ metadata }) => annotations.some((annotation) => metadata.annotations?.[annotation] === 'true'))
    .sort((a, b) => {
      if (created(a) !== created(b)) return created(a) < created(b) ? 1 : -1;
      return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
    })[0];
}
