// The answer of endpoints that have nothing to show (metav1.Status).
import type { KubeObject } from '#apimachinery/meta';

/** `code` is the HTTP status. */
export const successStatus = (code: number): KubeObject =>
  ({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code }) as KubeObject;
