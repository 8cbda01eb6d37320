// Warnings about addresses in a pod's status (pkg/registry/core/pod).
import type { Pod } from '#api/core/v1';
import { root } from '#apimachinery/field';
import { ipWarnings } from '#apimachinery/validation';

export function statusIPWarnings({ status }: Pod): string[] {
  return (['podIPs', 'hostIPs'] as const).flatMap((name) =>
    (status?.[name] ?? []).flatMap(({ ip }, index) => ipWarnings(root('status', name).index(index).child('ip'), ip ?? '')),
  );
}
