// gRPC is loaded by those who connect: a node whose pods are simulated never does.
import type { CriClient, CriOptions } from './client.ts';

/** Connects lazily: the first call fails when nothing listens there. */
export async function connectCri(options: CriOptions): Promise<CriClient> {
  const { createCriClient } = await import('./client.ts');
  return createCriClient(options);
}
