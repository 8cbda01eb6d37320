// HTTP/2 clients that take back what they ask for before anybody can look at it (rapid reset, CVE-2023-44487). Making a stream costs many times what
// its two frames cost the client, and all frames of one read come in one turn of the event loop.
import { constants } from 'node:http2';
import type { Logger } from '#utils';
import { limits } from '../limits.ts';

/** What is looked at of an HTTP/2 session, and done to it. */
export interface ResetSession {
  readonly destroyed: boolean;
  on(event: 'stream', listener: (stream: { readonly aborted: boolean }) => void): unknown;
  destroy(error?: Error, code?: number): void;
}

/**
 * Ends sessions with too many resets in one turn. Who has many connections reset at once gets no further than with one: where as many streams
 * were made in a turn as one session may take back, a few that were taken back are enough.
 */
export class RapidResets {
  readonly #logger: Logger;
  /** Streams made in this turn, of all sessions. */
  #made = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  watch(session: ResetSession): void {
    let opened: { readonly aborted: boolean }[] = [];
    session.on('stream', (stream) => {
      if (opened.length === 0) setImmediate(() => (opened = []));
      if (this.#made++ === 0) setImmediate(() => (this.#made = 0));
      opened.push(stream);
      const most = this.#made > limits.resetsInTurnMax ? limits.resetsInCrowdedTurnMax : limits.resetsInTurnMax;
      if (!opened.at(-most)?.aborted || session.destroyed) return;
      this.#logger.debug('HTTP/2 connection closed: too many requests were reset as soon as they were made');
      session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
  }
}
