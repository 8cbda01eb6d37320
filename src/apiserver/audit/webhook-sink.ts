// Events as EventLists posted to a server (k8s.io/apiserver/plugin/pkg/audit/webhook); any failure is tried again.
import type { Clock, Rng } from '#utils';
import { createWireClient, type WireClient } from '#wire';
import type { RecordedEvent } from './core/record.ts';
import type { WebhookServer } from '../outbound/kubeconfig.ts';
import {
  webhookAnswerBytesMax,
  webhookAttemptsMax,
  webhookBackoffFactor,
  webhookBackoffJitter,
  webhookTimeoutMs,
} from './limits.ts';
import type { AuditSink, LossReport } from './sink.ts';

export interface WebhookDeps {
  clock: Clock;
  rng: Rng;
  lost: LossReport;
}

const listOf = (events: readonly RecordedEvent[]): string =>
  `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${events.map(itemOf).join(',')}]}\n`;

/** Entries of a list do not say what they are. */
const itemOf = ({ json }: RecordedEvent): string => json.replace('{"kind":"Event","apiVersion":"audit.k8s.io/v1",', '{');

async function post(client: WireClient, server: WebhookServer, body: string, clock: Clock): Promise<void> {
  const abort = new AbortController();
  const timer = clock.setTimer(webhookTimeoutMs, () => abort.abort(new Error('context deadline exceeded')));
  try {
    const authorization = await server.authorization();
    const answer = await client.request({
      method: 'POST',
      path: new URL(server.url).search || '/',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(authorization !== undefined && { authorization }),
      },
      body,
      signal: abort.signal,
    });
    const text = await answer.text(webhookAnswerBytesMax);
    if (answer.status < 200 || answer.status > 206)
      throw new Error(`the server answered ${answer.status}: ${text.slice(0, 256)}`);
  } finally {
    timer.cancel();
  }
}

export function webhookSink(server: WebhookServer, backoffMs: number, { clock, rng, lost }: WebhookDeps): AuditSink {
  const client = createWireClient({ baseUrl: server.url.replace(/\/$/, ''), tls: server.tls });
  const stop = new AbortController();
  const send = async (events: readonly RecordedEvent[]): Promise<boolean> => {
    const body = listOf(events);
    let waitMs = backoffMs;
    for (let attempt = 1; ; attempt++) {
      try {
        await post(client, server, body, clock);
        return true;
      } catch (error) {
        if (attempt >= webhookAttemptsMax || stop.signal.aborted) {
          lost('webhook', (error as Error).message, events);
          return false;
        }
      }
      await clock.sleep(waitMs * (1 + webhookBackoffJitter * rng.next()), stop.signal).catch(() => undefined);
      waitMs *= webhookBackoffFactor;
    }
  };
  const running = new Set<Promise<boolean>>();
  return {
    process(events) {
      const sent = send(events).finally(() => running.delete(sent));
      running.add(sent);
      return sent;
    },
    async close() {
      // A server that does not answer is tried once more at once, not waited for.
      stop.abort();
      await Promise.allSettled(running);
      client.close();
    },
  };
}
