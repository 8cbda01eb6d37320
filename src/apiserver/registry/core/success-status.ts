// The answer of endpoints that have nothing to show (metav1.Status).
import type { KubeObject } from '#apimachinery/meta';

/** A Status that says that all went well; `code` is that of HTTP. */
export const successStatus = (code: number): KubeObject =>
  ({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code }) as KubeObject;
