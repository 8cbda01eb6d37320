// A KMS plugin as an encryption provider, version 2 (https://kubernetes.io/docs/tasks/administer-cluster/kms-provider/): the plugin encrypts
// one seed, every value gets a key of its own derived from it. The seed changes when the plugin names another key. When the plugin is away,
// reads of known seeds go on, and so do writes for a while.
import { createHash, randomBytes } from '../../platform/crypto.ts';
import type { Metrics } from '#component-base';
import type { Clock, Logger, Rng } from '#utils';
import { aesGcm, seededGcm } from '../ciphers.ts';
import { kmsHealthMs, kmsProbeMs, kmsSilenceMs, kmsWriteMs, pluginTextMax, seedBytes, seedCacheMs, seedsMax } from '../limits.ts';
import type { Plain, Soon, Transformer } from '../transformer.ts';
import {
  checkSource,
  decodeEncryptedObject,
  type EncryptedObject,
  type EncryptedSource,
  encodeEncryptedObject,
  keyIdProblem,
  sourceTypes,
} from './encrypted-object.ts';
import { keyIdMetrics } from './metrics.ts';
import { type KmsService, type KmsStatus, SilentPluginError } from './service.ts';

export interface KmsPluginOptions {
  name: string;
  service: KmsService;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  metrics: Metrics;
  /** The plugin is well again after it was not: what could not be read before may be now. */
  onRecovered(): void;
}

interface Current {
  source: EncryptedSource;
  transformer: Transformer;
  /** By the monotonic clock: a clock that is set must neither end nor prolong it. */
  expiresMs: number;
}

interface KnownSeed {
  transformer: Soon<Transformer>;
  untilMs: number;
  /** It has opened a value, or sealed what this server writes: the plugin gave the right one. */
  proven: boolean;
}

/** What a plugin says goes to everybody who asks for health, and into logs. */
const short = (text: string): string => (text.length > pluginTextMax ? `${text.slice(0, pluginTextMax)}...` : text);

const hashOf = (text: string): string => (text === '' ? '' : `sha256:${createHash('sha256').update(text).digest('hex')}`);

const cacheKeyOf = ({ sourceType, encryptedSource, keyId, annotations }: EncryptedSource): string =>
  JSON.stringify([
    sourceType,
    Buffer.from(encryptedSource).toString('base64'),
    keyId,
    Object.entries(annotations)
      .map(([key, value]) => [key, Buffer.from(value).toString('base64')])
      .sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  ]);

export class KmsPlugin implements Transformer {
  readonly #options: KmsPluginOptions;
  readonly #observeKey: ReturnType<typeof keyIdMetrics>;
  readonly #seeds = new Map<string, KnownSeed>();
  #current: Current | undefined;
  #version = '';
  #health: { error: Error | undefined; untilMs: number } = { error: undefined, untilMs: -Infinity };
  #checking: Promise<void> | undefined;
  /** What a question came to that the plugin has left without an answer. */
  #silence: { error: Error; untilMs: number } | undefined;
  #timer: { cancel(): void } | undefined;
  #closed = false;

  constructor(options: KmsPluginOptions) {
    this.#options = options;
    this.#observeKey = keyIdMetrics(options.metrics, options.name, () => options.clock.now());
  }

  /** Looks once, and then again and again until closed. Does not fail where the plugin does. */
  async start(): Promise<void> {
    if (this.#closed) return;
    const { name, logger, clock } = this.#options;
    const error = await this.check().then(
      () => undefined,
      (failure: unknown) => failure as Error,
    );
    if (this.#closed) return;
    if (error) logger.error('kms plugin failed health check probe', { name, err: error.message });
    this.#timer = clock.setTimer(error ? kmsProbeMs.unhealthy : kmsProbeMs.healthy, () => void this.start());
  }

  /** Rejects unless the plugin is well; asks it, unless it was asked a moment ago. */
  async check(): Promise<void> {
    const { clock } = this.#options;
    if (clock.monotonic() >= this.#health.untilMs) await this.#lookOnce();
    if (this.#health.error) throw this.#health.error;
  }

  #lookOnce(): Promise<void> {
    this.#checking ??= this.#look().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#options.service.close();
  }

  mark(): string {
    return this.#current ? `${this.#current.source.sourceType}:${this.#current.source.keyId}` : '';
  }

  toStore(value: Uint8Array, key: string): Uint8Array {
    const current = this.#current;
    if (!current) throw new Error('got unexpected nil transformer');
    const { clock } = this.#options;
    const overdueMs = clock.monotonic() - current.expiresMs;
    if (overdueMs > 0) {
      const text = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
      const now = clock.now();
      throw new Error(
        `encryptedDEKSource with keyID hash ${JSON.stringify(hashOf(current.source.keyId))} expired at ${text(now - overdueMs)} (current time is ${text(now)})`,
      );
    }
    const data = current.transformer.toStore(value, key) as Uint8Array;
    this.#observeKey('to_storage', hashOf(current.source.keyId));
    return encodeEncryptedObject({ ...current.source, data });
  }

  fromStore(stored: Uint8Array, key: string): Soon<Plain> {
    const object = decodeEncryptedObject(stored);
    const transformer = this.#seedOf(object);
    return transformer instanceof Promise
      ? transformer.then((ready) => this.#open(ready, object, key))
      : this.#open(transformer, object, key);
  }

  #open(transformer: Transformer, object: EncryptedObject, key: string): Plain {
    this.#observeKey('from_storage', hashOf(object.keyId));
    const value = this.#proved(transformer, object, key);
    return { value, mark: `${object.sourceType}:${object.keyId}` };
  }

  /** The value; a seed that opens nothing is not remembered, because a plugin that has recovered gives another one. */
  #proved(transformer: Transformer, object: EncryptedObject, key: string): Uint8Array {
    const cacheKey = cacheKeyOf(object);
    const known = this.#seeds.get(cacheKey);
    try {
      const { value } = transformer.fromStore(object.data, key) as Plain;
      if (known) known.proven = true;
      return value;
    } catch (error) {
      if (known && !known.proven) this.#seeds.delete(cacheKey);
      throw error;
    }
  }

  /**
   * Asks the plugin only for seeds that are not known; those who ask at once share the answer. One that has left a question without an answer is not asked
   * again until it has said how it is: whoever reads many values, or follows the store, would wait for each.
   */
  #seedOf(object: EncryptedObject): Soon<Transformer> {
    const cacheKey = cacheKeyOf(object);
    const known = this.#seeds.get(cacheKey);
    const now = this.#options.clock.monotonic();
    if (known && known.untilMs > now) return known.transformer;
    const failed = (error: Error): Error => new Error(`failed to decrypt DEK, error: ${error.message}`, { cause: error });
    if (this.#silence && this.#silence.untilMs > now) throw failed(this.#silence.error);
    const { service, rng } = this.#options;
    const { encryptedSource: ciphertext, keyId, annotations, sourceType } = object;
    const asked = service.decrypt(rng.uuid(), { ciphertext, keyId, annotations }).then(
      (plain) => {
        const transformer = sourceType === sourceTypes.seed ? seededGcm(plain) : aesGcm(plain);
        this.#remember(cacheKey, transformer);
        return transformer;
      },
      (error: unknown) => {
        this.#seeds.delete(cacheKey);
        if (error instanceof SilentPluginError) this.#noteSilence(error);
        throw failed(error as Error);
      },
    );
    this.#remember(cacheKey, asked);
    return asked;
  }

  #noteSilence(error: Error): void {
    if (this.#closed) return;
    this.#silence = { error, untilMs: this.#options.clock.monotonic() + kmsSilenceMs };
    void this.#lookOnce();
  }

  #remember(cacheKey: string, transformer: Soon<Transformer>, proven = false): void {
    this.#seeds.delete(cacheKey);
    const oldest = this.#seeds.size >= seedsMax ? this.#seeds.keys().next().value : undefined;
    if (oldest !== undefined) this.#seeds.delete(oldest);
    this.#seeds.set(cacheKey, { transformer, untilMs: this.#options.clock.monotonic() + seedCacheMs, proven });
  }

  async #look(): Promise<void> {
    const { name, service, clock, onRecovered } = this.#options;
    const before = this.#health.error;
    let error: Error | undefined;
    try {
      const answer = await service.status().catch((failure: unknown) => {
        throw new Error(
          `failed to perform status section of the healthz check for KMS Provider ${name}, error: ${(failure as Error).message}`,
        );
      });
      this.#silence = undefined;
      const problems = await this.#judge(answer);
      if (problems.length > 0)
        throw new Error(
          `kmsv2 Provider ${name} is not healthy, error: ${problems.length > 1 ? `[${problems.join(', ')}]` : problems[0]}`,
        );
    } catch (failure) {
      error = failure as Error;
    }
    this.#health = { error, untilMs: clock.monotonic() + (error ? kmsHealthMs.unhealthy : kmsHealthMs.healthy) };
    if (before && !error && !this.#closed) onRecovered();
  }

  async #judge({ version, healthz, keyId }: KmsStatus): Promise<string[]> {
    const problems: string[] = [];
    if (healthz !== 'ok') problems.push(`got unexpected healthz status: ${short(healthz)}`);
    if (version !== 'v2' && version !== 'v2beta1') problems.push(`expected KMSv2 API version v2, got ${short(version)}`);
    else {
      this.#version ||= version;
      if (this.#version !== version)
        problems.push(
          `KMSv2 API version should not change after the initial status response version ${this.#version}, got ${version}`,
        );
    }
    const problem = keyIdProblem(keyId);
    if (problem !== undefined) {
      this.#observeKey('invalid', problem === 'keyID is empty' ? 'empty' : 'too_long');
      problems.push(`got invalid KMSv2 KeyID hash ${JSON.stringify(hashOf(keyId))}: ${problem}`);
      return problems;
    }
    this.#observeKey('status', hashOf(keyId));
    const failed = await this.#renew(keyId);
    return failed === undefined ? problems : [...problems, failed];
  }

  /** Keeps the seed while the plugin's key is the same, and makes another one when it is not. The problem, if there is one. */
  async #renew(keyId: string): Promise<string | undefined> {
    const { clock, rng, service } = this.#options;
    const expiresMs = clock.monotonic() + kmsWriteMs;
    if (this.#current?.source.keyId === keyId) {
      this.#current = { ...this.#current, expiresMs };
      return undefined;
    }
    const seed = randomBytes(seedBytes);
    try {
      const { ciphertext, keyId: encryptKeyId, annotations } = await service.encrypt(rng.uuid(), seed);
      const source: EncryptedSource = {
        keyId: encryptKeyId,
        encryptedSource: ciphertext,
        annotations,
        sourceType: sourceTypes.seed,
      };
      checkSource(source);
      if (encryptKeyId !== keyId)
        return `failed to rotate DEK, statusKeyIDHash=${JSON.stringify(hashOf(keyId))}, encryptKeyIDHash=${JSON.stringify(hashOf(encryptKeyId))}`;
      const transformer = seededGcm(seed);
      this.#current = { source, transformer, expiresMs };
      this.#remember(cacheKeyOf(source), transformer, true);
      return undefined;
    } catch (error) {
      return `failed to rotate DEK, errGen=failed to encrypt DEK, error: ${(error as Error).message}`;
    }
  }
}
