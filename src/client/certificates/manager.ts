// Keeps one certificate of a component valid: asks for the first, and for the next long before the end (client-go/util/certificate, Manager).
import { type CertificateAndKey, parseCertificates, type SubjectOptions } from '#pki';
import type { Clock, Logger, Rng, Timer } from '#utils';
import { certificateLookMs, certificateRetryMs, certificateWaitMs } from '../limits.ts';
import type { KubeClient } from '../types.ts';
import { keepCertificate, readCurrent } from './files.ts';
import { DeniedError, requestCertificate } from './request.ts';

export interface CertificateManagerOptions {
  /** Where `<name>-current.pem` is kept. */
  dir: string;
  name: string;
  signerName: string;
  usages: readonly string[];
  /** What to ask for now; undefined: it is not known yet. When it differs from what is held, another one is asked for. */
  subject(): SubjectOptions | undefined;
  /** Makes the client that asks; it may change with the certificate itself. */
  client(): KubeClient;
  /** Used while none is kept. */
  initial?: CertificateAndKey | undefined;
  /** Called with every new certificate. */
  onChange?(pair: CertificateAndKey): void;
  /** false: what is there is used until its end, and no other is asked for. */
  rotate?: boolean;
}

export interface CertificateManagerDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

/** When to ask for the next one: between 70 % and 90 % of its life. */
export const rotationTime = ({ notBefore, notAfter }: { notBefore: number; notAfter: number }, rng: Rng): number =>
  notBefore + (notAfter - notBefore) * (0.7 + 0.2 * rng.next());

export class CertificateManager {
  readonly #options: CertificateManagerOptions;
  readonly #deps: CertificateManagerDeps;
  readonly #closed = new AbortController();
  #held: CertificateAndKey | undefined;
  #rotateAtMs = 0;
  #timer: Timer | undefined;
  #working: Promise<void> | undefined;
  #failures = 0;

  constructor(options: CertificateManagerOptions, deps: CertificateManagerDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /** The present certificate; undefined while no certificate is valid. */
  get current(): CertificateAndKey | undefined {
    return this.#held && this.#endOf(this.#held) > this.#deps.clock.now() ? this.#held : undefined;
  }
  /** Reads what is kept, and asks for what is missing until there is a valid one. Rejects when it was denied, and when `signal` is aborted. */
  async start(signal?: AbortSignal): Promise<void> {
    await this.load();
    const ends = signal ? AbortSignal.any([signal, this.#closed.signal]) : this.#closed.signal;
    while (!this.current) {
      try {
        await this.#renew(ends);
      } catch (error) {
        if (ends.aborted || error instanceof DeniedError) throw error;
        await this.#deps.clock.sleep(this.#pauseAfter(error), ends);
      }
    }
    this.#failures = 0;
    this.#schedule();
  }
  /** Begins in the background: for certificates that something else waits for. */
  run(): void {
    void this.load().then(() => this.#look());
  }
  async load(): Promise<void> {
    const kept = (await readCurrent(this.#options.dir, this.#options.name)) ?? this.#options.initial;
    if (kept) this.#take(kept);
  }
  /** Looks at once, because what is to be asked for may have changed. */
  wake(): void {
    this.#timer?.cancel();
    this.#look();
  }
  close(): void {
    this.#timer?.cancel();
    this.#closed.abort(new Error('closed'));
  }

  #endOf({ cert }: CertificateAndKey): number {
    return parseCertificates(cert)[0]?.notAfter ?? 0;
  }
  #take(pair: CertificateAndKey): void {
    const [leaf] = parseCertificates(pair.cert);
    if (!leaf) return;
    this.#held = pair;
    this.#rotateAtMs = rotationTime(leaf, this.#deps.rng);
    this.#options.onChange?.(pair);
  }
  /** Waits by the wall clock, which may be set meanwhile. */
  #schedule(): void {
    if (this.#closed.signal.aborted) return;
    const { clock } = this.#deps;
    const restMs = Math.max(0, this.#rotateAtMs - clock.now());
    this.#timer?.cancel();
    this.#timer = clock.setTimer(Math.min(restMs, certificateLookMs), () => this.#look());
  }
  #look(): void {
    if (this.#working || this.#closed.signal.aborted) return;
    const due = !this.current || this.#deps.clock.now() >= this.#rotateAtMs || this.#namesDiffer();
    if (!due || (this.#options.rotate === false && this.current)) return this.#schedule();
    this.#working = this.#renew(this.#closed.signal).then(
      () => {
        this.#failures = 0;
        this.#working = undefined;
        this.#schedule();
      },
      (error: unknown) => this.#failed(error),
    );
  }
  #failed(error: unknown): void {
    this.#working = undefined;
    if (this.#closed.signal.aborted) return;
    this.#timer = this.#deps.clock.setTimer(this.#pauseAfter(error), () => this.#look());
  }
  #pauseAfter(error: unknown): number {
    const { logger, rng } = this.#deps;
    const pauseMs = Math.min(certificateRetryMs.max, certificateRetryMs.first * 2 ** this.#failures++) * (1 + 0.1 * rng.next());
    logger.error('Certificate was not issued; trying again', {
      certificate: this.#options.name,
      err: error,
      pauseMs: Math.round(pauseMs),
    });
    return pauseMs;
  }
  /** Names and addresses that are asked for now and are not in what is held. */
  #namesDiffer(): boolean {
    const wanted = this.#options.subject();
    const [leaf] = this.#held ? parseCertificates(this.#held.cert) : [];
    if (!wanted || !leaf) return false;
    const lacks = (names: readonly string[] | undefined, held: readonly string[]): boolean =>
      (names ?? []).some((name) => !held.includes(name));
    const isAnother = (wanted.commonName ?? '') !== (leaf.subject.commonName ?? '');
    return isAnother || lacks(wanted.dnsNames, leaf.dnsNames) || lacks(wanted.ips, leaf.ips);
  }
  async #renew(signal: AbortSignal): Promise<void> {
    const { dir, name, signerName, usages, client } = this.#options;
    const subject = this.#options.subject();
    if (!subject) throw new Error('its names are not known yet');
    const { clock, logger } = this.#deps;
    const patience = new AbortController();
    const timer = clock.setTimer(certificateWaitMs, () => patience.abort(new Error('the request was not answered in time')));
    try {
      const pair = await requestCertificate(
        client(),
        { signerName, usages, subject },
        AbortSignal.any([signal, patience.signal]),
      );
      await keepCertificate(dir, name, pair, clock.now());
      this.#take(pair);
      logger.info('Certificate was issued', { certificate: name, until: new Date(this.#endOf(pair)).toISOString() });
    } finally {
      timer.cancel();
    }
  }
}
