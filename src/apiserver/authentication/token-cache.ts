// Remembers what authenticators that have to compute or to ask said of a token (k8s.io/apiserver/pkg/authentication/token/cache). The user of
// a token is the same object while it is remembered, which caches keyed by user rely on.
import { createHash } from '../platform/crypto.ts';
import type { Clock } from '#utils';
import { limits } from './limits.ts';
import type { AuthenticatedUser, TokenAuthenticator } from './types.ts';

interface Remembered {
  answer: AuthenticatedUser | undefined;
  untilMs: number;
}

/** 0: not remembered. Failures to find out are never remembered. */
export interface Lifetimes {
  knownMs: number;
  unknownMs: number;
}

export interface TokenCache extends TokenAuthenticator {
  /** The authenticators behind have changed. */
  forget(): void;
}

export function rememberTokens(inner: TokenAuthenticator, { knownMs, unknownMs }: Lifetimes, clock: Clock): TokenCache {
  const known = new Map<string, Remembered>();
  const asked = new Map<string, Promise<AuthenticatedUser | undefined>>();
  let generation = 0;
  const remember = (key: string, answer: AuthenticatedUser | undefined): void => {
    const lifetimeMs = answer ? knownMs : unknownMs;
    if (lifetimeMs <= 0) return;
    const oldest = known.size >= limits.rememberedTokensMax ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    known.set(key, { answer, untilMs: clock.monotonic() + lifetimeMs });
  };
  return {
    authenticateToken(token, audiences) {
      const key = createHash('sha256')
        .update(JSON.stringify([token, audiences]))
        .digest('base64');
      const found = known.get(key);
      if (found && found.untilMs > clock.monotonic()) return found.answer;
      known.delete(key);
      const waiting = asked.get(key);
      if (waiting) return waiting;
      const answer = inner.authenticateToken(token, audiences);
      if (!(answer instanceof Promise)) return answer;
      const begun = generation;
      const late = answer
        .then((ready) => {
          if (begun === generation) remember(key, ready);
          return ready;
        })
        .finally(() => asked.delete(key));
      asked.set(key, late);
      return late;
    },
    forget() {
      generation++;
      known.clear();
      asked.clear();
    },
  };
}
