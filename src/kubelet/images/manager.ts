// Makes sure a container's image is there: pull policy, back-off, one pull at a time (upstream pkg/kubelet/images image_manager.go).
import type { Container, ImageVolumeSource, Pod } from '#api/core/v1';
import { formatDurationMs } from '#apimachinery/duration';
import { atMost } from '#host';
import { type Clock, quote } from '#utils';
import type { EventType, PodEvents } from '../events.ts';
import { imageBackoffInitialMs, imageBackoffMaxMs } from '../limits.ts';
import { type BackOff, backOffNext, backOffUntil } from '../pod/back-off.ts';
import { type ImageInfo, type ImageService, type RegistryAuth, StartFailure } from '../container/runtime.ts';
import { withDefaultTag } from './reference.ts';

export interface ImageManagerDeps {
  images: ImageService;
  clock: Clock;
  events: PodEvents;
  /** Credentials that may fit, best first. */
  credentials(pod: Pod, image: string): Promise<RegistryAuth[]>;
  /** Pulls at once; upstream's default is one (serializeImagePulls). */
  parallelPulls?: number;
}

/** A pull that has to wait: `retryAtMs` is when it is tried again. */
export class PullBackOff extends StartFailure {
  readonly retryAtMs: number;
  constructor(message: string, retryAtMs: number) {
    super('ImagePullBackOff', message);
    this.retryAtMs = retryAtMs;
  }
}

interface Failed extends BackOff {
  message: string;
}

const rule = { initialMs: imageBackoffInitialMs, maxMs: imageBackoffMaxMs };
const known = ['RegistryUnavailable', 'SignatureValidationFailed'] as const;

/** Reason and message of a failed pull (upstream evalCRIPullErr). */
function pullFailure(image: string, text: string): StartFailure {
  const name = known.find((prefix) => text.startsWith(prefix));
  if (name === undefined) return new StartFailure('ErrImagePull', text);
  const why = name === 'RegistryUnavailable' ? 'registry is unavailable' : 'signature validation failed';
  return new StartFailure(name, `image pull failed for ${image} because the ${why}${text.slice(name.length)}`);
}

export class ImageManager {
  readonly #deps: ImageManagerDeps;
  readonly #failed = new Map<string, Failed>();
  readonly #inTurn: ReturnType<typeof atMost>;

  constructor(deps: ImageManagerDeps) {
    this.#deps = deps;
    this.#inTurn = atMost(deps.parallelPulls ?? 1);
  }

  /** A container's image, pulled when the policy says so. Rejects with StartFailure. */
  ensure(pod: Pod, container: Container): Promise<ImageInfo> {
    const { image = '', imagePullPolicy } = container;
    return this.#ensure(pod, image, imagePullPolicy, (type, reason, message) =>
      this.#deps.events.container(pod, container, type, reason, message),
    );
  }
  /** Has the image of a volume on the node, as `ensure` has that of a container. */
  ensureVolume(pod: Pod, { reference = '', pullPolicy }: ImageVolumeSource): Promise<ImageInfo> {
    return this.#ensure(pod, reference, pullPolicy, (type, reason, message) => this.#deps.events.pod(pod, type, reason, message));
  }
  async #ensure(
    pod: Pod,
    requested: string,
    policy = 'IfNotPresent',
    event: (type: EventType, reason: string, message: string) => void,
  ): Promise<ImageInfo> {
    let image: string;
    try {
      image = withDefaultTag(requested);
    } catch (error) {
      const message = `Failed to apply default image tag ${quote(requested)}: ${(error as Error).message}`;
      event('Warning', 'InspectFailed', message);
      throw new StartFailure('InvalidImageName', message);
    }
    const present = policy === 'Always' ? undefined : await this.#inspect(image, event);
    if (present) {
      event('Normal', 'Pulled', `Container image ${quote(requested)} already present on machine and can be accessed by the pod`);
      return present;
    }
    if (policy === 'Never') {
      const message = `Container image ${quote(requested)} is not present with pull policy of Never`;
      event('Warning', 'ErrImageNeverPull', message);
      throw new StartFailure('ErrImageNeverPull', message);
    }
    return this.#pull(pod, requested, image, event);
  }

  /** Forgets the failures of a pod that is gone. */
  forget(podUid: string): void {
    for (const key of this.#failed.keys()) if (key.startsWith(`${podUid}_`)) this.#failed.delete(key);
  }

  async #inspect(
    image: string,
    event: (type: EventType, reason: string, message: string) => void,
  ): Promise<ImageInfo | undefined> {
    try {
      return await this.#deps.images.status(image);
    } catch (error) {
      const message = `Failed to inspect image "": ${(error as Error).message}`;
      event('Warning', 'InspectFailed', message);
      throw new StartFailure('ImageInspectError', message);
    }
  }

  async #pull(
    pod: Pod,
    requested: string,
    image: string,
    event: (type: EventType, reason: string, message: string) => void,
  ): Promise<ImageInfo> {
    const { clock } = this.#deps;
    const key = `${pod.metadata.uid ?? ''}_${requested}`;
    const failed = this.#failed.get(key);
    const retryAtMs = failed && backOffUntil(failed, failed.atMs, clock.now(), rule);
    if (failed && retryAtMs !== undefined) {
      const message = `Back-off pulling image ${quote(requested)}`;
      event('Normal', 'BackOff', message);
      throw new PullBackOff(`${message}: ${failed.message}`, retryAtMs);
    }
    event('Normal', 'Pulling', `Pulling image ${quote(requested)}`);
    const askedAt = clock.monotonic();
    try {
      const { info, pullMs } = await this.#inTurn(() => this.#pullWithCredentials(pod, image));
      this.#failed.delete(key);
      const [took, total] = [pullMs, clock.monotonic() - askedAt].map((ms) => formatDurationMs(Math.trunc(ms)));
      const size = `Image size: ${info.sizeBytes} bytes.`;
      event('Normal', 'Pulled', `Successfully pulled image ${quote(requested)} in ${took} (${total} including waiting). ${size}`);
      return info;
    } catch (error) {
      const text = (error as Error).message;
      event('Warning', 'Failed', `Failed to pull image ${quote(requested)}: ${text}`);
      const failure = pullFailure(requested, text);
      const next = backOffNext(failed, clock.now(), clock.now(), rule);
      this.#failed.set(key, { ...next, message: `${failure.reason}: ${failure.message}` });
      throw failure;
    }
  }

  async #pullWithCredentials(pod: Pod, image: string): Promise<{ info: ImageInfo; pullMs: number }> {
    const { images, clock } = this.#deps;
    const startedAt = clock.monotonic();
    const credentials: (RegistryAuth | undefined)[] = await this.#deps.credentials(pod, image);
    let failure: unknown;
    for (const auth of credentials.length > 0 ? credentials : [undefined]) {
      try {
        const id = await images.pull(image, pod, auth);
        const info = await images.status(image);
        return { info: info ?? { id, repoTags: [], repoDigests: [], sizeBytes: 0 }, pullMs: clock.monotonic() - startedAt };
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }
}
