// A configuration file that takes effect again whenever its content changes (upstream's reload controllers of --encryption-provider-config,
// --authentication-config and --authorization-config). A new content that does not load changes nothing and is tried again.
import { createHash } from '../platform/crypto.ts';
import { readText } from '../platform/files.ts';
import { readYaml } from '#apimachinery/codec';
import { nextTurn, paced, watchFile } from '#host';
import type { Clock, Logger } from '#utils';
import { reloadRetryMs } from '../limits.ts';
import type { ConfigurationSource } from './read.ts';

export interface FollowOptions {
  path: string;
  /** Content that is in effect already. */
  loaded: string;
  /** Puts a new content into effect, or rejects. Never called twice at once. The content was read in turns with what the server answers meanwhile. */
  load(source: ConfigurationSource): Promise<void>;
  /** Called after each try, for metrics. */
  onResult?(result: { error?: Error; hash: string }): void;
  clock: Clock;
  logger: Logger;
}

export interface FollowedFile {
  close(): void;
}

/** The hash of a file that upstream writes into metrics: it tells versions of the file apart without revealing its contents. */
export const contentHash = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

export function followFile(options: FollowOptions): FollowedFile {
  const { path, clock, logger } = options;
  let hash = contentHash(options.loaded);
  let running = false;
  let again = false;
  let closed = false;
  let retry: { cancel(): void } | undefined;
  const attempt = async (): Promise<void> => {
    const text = await readText(path);
    const next = contentHash(text);
    if (next === hash || closed) return;
    try {
      await options.load(text === '' ? text : await paced(readYaml(text), nextTurn));
      hash = next;
      options.onResult?.({ hash });
      logger.info('configuration file reloaded', { path });
    } catch (error) {
      options.onResult?.({ error: error as Error, hash: next });
      throw error;
    }
  };
  const look = async (): Promise<void> => {
    retry?.cancel();
    again = running;
    if (running || closed) return;
    running = true;
    try {
      await attempt();
    } catch (error) {
      logger.error('configuration file not reloaded; the former content stays in effect', {
        path,
        err: (error as Error).message,
      });
      if (!closed) retry = clock.setTimer(reloadRetryMs, () => void look());
    } finally {
      running = false;
    }
    if (again) await look();
  };
  const watched = watchFile(path, () => void look());
  return {
    close() {
      closed = true;
      retry?.cancel();
      watched.close();
    },
  };
}
