// Watch events (k8s.io/apimachinery/pkg/watch).
import type { KubeObject } from '../meta/index.ts';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** One event; `object` is frozen. For ERROR it is a `Status`, for BOOKMARK an object with only a resourceVersion (and annotations). */
export interface WatchEvent<T extends KubeObject = KubeObject> {
  type: WatchEventType;
  object: T;
}
