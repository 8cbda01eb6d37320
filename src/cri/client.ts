// The Container Runtime Interface over gRPC on a unix socket (k8s.io/cri-api runtime.v1; upstream k8s.io/cri-client).
import { credentials } from '@grpc/grpc-js';
import type { Clock, Logger } from '#utils';
import { callUnary, type ServiceClient } from '#wire/grpc';
import { criError } from './errors.ts';
import { subscribeContainerEvents } from './events.ts';
import { criServices } from './facts.ts';
import { callTimeoutMs, messageBytesMax, pullTimeoutMs, sandboxTimeoutMs, stopSlackMs } from './limits.ts';
import { snapshotService } from './snapshots.ts';
import type * as cri from './types.ts';

export interface CriOptions {
  /** `unix:///run/containerd/containerd.sock`. */
  endpoint: string;
  clock: Clock;
  logger: Logger;
}

export interface CriClient {
  runtime: cri.RuntimeService;
  images: cri.ImageService;
  snapshots: cri.SnapshotService;
  /**
   * Calls `onEvent` for every container that changes; undefined when events may have been lost (after a reconnect). Resolves with false when
   * the runtime has no events at all.
   */
  events(onEvent: (event: cri.ContainerEvent | undefined) => void): Promise<boolean>;
  close(): void;
}

type Call = <T>(method: string, request: object, timeoutMs?: number) => Promise<T>;

function caller(client: ServiceClient, clock: Clock): Call {
  return async <T>(method: string, request: object, timeoutMs = callTimeoutMs): Promise<T> => {
    try {
      return await callUnary<T>({ client, method, request, deadlineMs: clock.now() + timeoutMs });
    } catch (error) {
      throw criError(error);
    }
  };
}

interface Verbose {
  info?: Record<string, string>;
}

/** One of the JSON texts of a verbose answer; what is not JSON says nothing. */
function verboseInfo<T extends object>(info: Record<string, string> | undefined, name: string): T {
  try {
    return (JSON.parse(info?.[name] ?? '{}') ?? {}) as T;
  } catch {
    return {} as T;
  }
}

function runtimeService(call: Call): cri.RuntimeService {
  const nothing = async (method: string, request: object, timeoutMs?: number): Promise<void> =>
    void (await call(method, request, timeoutMs));
  return {
    version: () => call('Version', { version: 'v1' }),
    status: async () => (await call<{ status: cri.RuntimeStatus }>('Status', {})).status,
    config: async () => verboseInfo((await call<Verbose>('Status', { verbose: true })).info, 'config'),
    runPodSandbox: async (config, runtimeHandler = '') =>
      (await call<{ podSandboxId: string }>('RunPodSandbox', { config, runtimeHandler }, sandboxTimeoutMs)).podSandboxId,
    stopPodSandbox: (podSandboxId) => nothing('StopPodSandbox', { podSandboxId }, sandboxTimeoutMs),
    removePodSandbox: (podSandboxId) => nothing('RemovePodSandbox', { podSandboxId }),
    podSandboxStatus: async (podSandboxId) =>
      (await call<{ status: cri.PodSandboxStatus }>('PodSandboxStatus', { podSandboxId })).status,
    listPodSandbox: async (labels) =>
      (await call<{ items: cri.PodSandbox[] }>('ListPodSandbox', labels ? { filter: { labelSelector: labels } } : {})).items,
    createContainer: async (podSandboxId, config, sandboxConfig) =>
      (await call<{ containerId: string }>('CreateContainer', { podSandboxId, config, sandboxConfig })).containerId,
    startContainer: (containerId) => nothing('StartContainer', { containerId }),
    stopContainer: (containerId, timeoutSeconds) =>
      nothing('StopContainer', { containerId, timeout: timeoutSeconds }, timeoutSeconds * 1000 + stopSlackMs),
    removeContainer: (containerId) => nothing('RemoveContainer', { containerId }),
    listContainers: async (labels) =>
      (await call<{ containers: cri.Container[] }>('ListContainers', labels ? { filter: { labelSelector: labels } } : {}))
        .containers,
    containerStatus: async (containerId) =>
      (await call<{ status: cri.ContainerStatus }>('ContainerStatus', { containerId })).status,
    updateContainerResources: (containerId, linux) => nothing('UpdateContainerResources', { containerId, linux }),
    reopenContainerLog: (containerId) => nothing('ReopenContainerLog', { containerId }),
    execSync: (containerId, cmd, timeoutSeconds) =>
      call(
        'ExecSync',
        { containerId, cmd, timeout: timeoutSeconds },
        timeoutSeconds > 0 ? timeoutSeconds * 1000 + stopSlackMs : pullTimeoutMs,
      ),
    exec: async (request) => (await call<{ url: string }>('Exec', request)).url,
    attach: async (request) => (await call<{ url: string }>('Attach', request)).url,
    portForward: async (podSandboxId, port) => (await call<{ url: string }>('PortForward', { podSandboxId, port })).url,
    listContainerStats: async () => (await call<{ stats: cri.ContainerStats[] }>('ListContainerStats', {})).stats,
    updateRuntimeConfig: (podCidr) => nothing('UpdateRuntimeConfig', { runtimeConfig: { networkConfig: { podCidr } } }),
  };
}

function imageService(call: Call): cri.ImageService {
  return {
    listImages: async () => (await call<{ images: cri.Image[] }>('ListImages', {})).images,
    imageStatus: async (image) => (await call<{ image: cri.Image | null }>('ImageStatus', { image })).image ?? undefined,
    imageInfo: async (image) => verboseInfo((await call<Verbose>('ImageStatus', { image, verbose: true })).info, 'info'),
    pullImage: async (image, auth, sandboxConfig) =>
      (await call<{ imageRef: string }>('PullImage', { image, auth, sandboxConfig }, pullTimeoutMs)).imageRef,
    removeImage: async (image) => void (await call('RemoveImage', { image })),
    imageFsInfo: async () => (await call<{ imageFilesystems: cri.FilesystemUsage[] }>('ImageFsInfo', {})).imageFilesystems,
  };
}

export function createCriClient({ endpoint, clock, logger }: CriOptions): CriClient {
  const { RuntimeService, ImageService, Events, Snapshots } = criServices();
  const options = { 'grpc.max_receive_message_length': messageBytesMax, 'grpc.max_send_message_length': messageBytesMax };
  const connect = (Service: typeof RuntimeService): ServiceClient => new Service(endpoint, credentials.createInsecure(), options);
  const runtime = connect(RuntimeService);
  const image = connect(ImageService);
  const events = connect(Events);
  const snapshots = connect(Snapshots);
  const stop = new AbortController();
  const services = { runtime: runtimeService(caller(runtime, clock)), images: imageService(caller(image, clock)) };
  return {
    ...services,
    snapshots: snapshotService({ ...services, snapshots, now: () => clock.now() }),
    events: (onEvent) => subscribeContainerEvents({ runtime, events, clock, logger, signal: stop.signal }, onEvent),
    close() {
      stop.abort();
      for (const client of [runtime, image, events, snapshots]) client.close();
    },
  };
}
