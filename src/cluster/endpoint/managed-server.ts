// Where a managed control plane is found. Pure.
import { managedApiPort } from '../control-planes/names.ts';
import { region } from '../cloud/names.ts';

/** Where its clients look for it. `mark`: the cluster's, six hex digits. */
export const managedServer = (mark: string): { host: string; port: number } => ({
  host: `${mark}.${region}.eks.sagong.internal`,
  port: managedApiPort,
});
