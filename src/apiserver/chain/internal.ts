// How a link of the chain tells of a failure of its own: as text, as Go's http.Error writes it (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters, InternalError).
import { quote } from '#utils';
import type { Incoming } from './incoming.ts';
import type { Outcome } from './outcome.ts';

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Answers a request that goes no further. */
export async function sendInternal({ reply, uri }: Incoming, why: string): Promise<Outcome> {
  const text = `Internal Server Error: ${quote(uri)}: ${why}`;
  const outcome = {
    is: 'bytes',
    status: 500,
    type: 'text/plain; charset=utf-8',
    body: `${text.replace(/[&<>]/g, (sign) => entities[sign] ?? sign)}\n`,
    headers: { 'x-content-type-options': 'nosniff' },
  } as const;
  await reply.send(outcome);
  return outcome;
}
