// What admission plugins share (k8s.io/apiserver/pkg/admission): the refusal with upstream's naming of the object, and the options.
import { forbidden, type StatusError } from '#apimachinery/errors';
import type { Metrics } from '#component-base';
import type { Clock, Logger, Rng } from '#utils';
import type { Authorizer } from '../authorization/types.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../registry/generic/admission.ts';
import type { ClusterWriter } from '../registry/writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import type { WebhookReach } from '../outbound/webhook-client.ts';

/** What the apiserver gives its admission plugins to work with. */
export interface PluginContext {
  cluster: ReadOnlyCluster;
  /** For the few that write: quota usage. */
  writer: ClusterWriter;
  authorizer: Authorizer;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  options: PluginOptions;
  /** How webhooks are reached; default: by cluster IP, from this process. */
  webhooks?: WebhookReach;
  /** Absent: nothing is measured. */
  metrics?: Metrics;
}

/** What flags and configuration files say to admission plugins. */
export interface PluginOptions {
  /** `--default-not-ready-toleration-seconds`, default 300. */
  notReadyTolerationSeconds: number;
  /** `--default-unreachable-toleration-seconds`, default 300. */
  unreachableTolerationSeconds: number;
}

export const defaultPluginOptions: PluginOptions = {
  notReadyTolerationSeconds: 300,
  unreachableTolerationSeconds: 300,
};

/** `configuration`: the text that `--admission-control-config-file` has for the plugin. Throws an Error that says what is wrong with it. */
export type PluginFactory = (context: PluginContext, configuration?: string) => AdmissionPlugin;

/** One plugin as its folder declares it. Where it runs is in `chain.ts`, which has upstream's order. */
export interface PluginDefinition {
  /** Upstream's. */
  name: string;
  /** False: it runs only when `--enable-admission-plugins` names it. */
  onByDefault: boolean;
  make: PluginFactory;
  /** It reads the files that a configuration names, before anything is served. Rejects with an Error that says what is wrong with them. */
  checkFiles?(configuration: string): Promise<void>;
}

export const definePlugin = (
  name: string,
  make: PluginFactory,
  { onByDefault = true, ...more }: Partial<Pick<PluginDefinition, 'onByDefault' | 'checkFiles'>> = {},
): PluginDefinition => ({ name, onByDefault, make, ...more });

/** The name a refusal shows: of the request, else of the object, else what it will be generated from. */
export function requestName({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.name || object?.metadata.generateName || 'Unknown';
}

/** The error by which a plugin refuses a request: 403 `pods "x" is forbidden: why`. */
export const deny = (request: AdmissionRequest, why: string): StatusError =>
  forbidden({ group: request.group, resource: request.resource }, requestName(request), why);

/** Whether the request is about this resource (and subresource). */
export const isFor = (request: AdmissionRequest, group: string, resource: string, subresource = ''): boolean =>
  request.resource === resource && request.group === group && request.subresource === subresource;

/** Makes the `handles` of a plugin that is asked about these operations. */
export const handling =
  (...operations: AdmissionRequest['operation'][]): AdmissionPlugin['handles'] =>
  (operation) =>
    operations.includes(operation);
