// Who owns which field (KEP-555 server-side apply; sigs.k8s.io/structured-merge-diff): `metadata.managedFields` kept on every write, and apply.
export type { FieldPattern, FieldSet } from './field-set.ts';
export type { FieldManager, FieldManagerOptions, Writer } from './manager.ts';
export { atOnce, createFieldManager } from './manager.ts';
export { ConfigurationProblem, layOver } from './configuration.ts';
export { ForeignValue } from './validate.ts';
export { parentManagers, type ReplicasPaths, scaleManagers } from './scale.ts';
