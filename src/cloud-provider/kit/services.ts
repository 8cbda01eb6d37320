// What providers say of a Service. Pure.
import type { Service } from '#api/core/v1';

/** `namespace/name`, as tags and descriptions in clouds have it. */
export const serviceKey = ({ metadata }: Service): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
export const uidOf = ({ metadata }: Service): string => metadata.uid ?? '';
