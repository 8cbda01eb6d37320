// A request that no client sent: what the server's own parts ask of the registry.
import { neverCancelled } from './cancellation.ts';
import { createNotes } from './notes.ts';
import { noOptions, type Request, type Target, type UserInfo } from './request.ts';

const none: readonly string[] = [];
const noHeaders = Object.freeze({});

export const ownRequest = (user: UserInfo, verb: string, target: Target, now: number): Request => ({
  ...{ user, verb, target, now, via: 'memory', progress: 'authorized', method: '', path: '', uri: '', query: '' },
  ...{ segments: none, headers: noHeaders, options: noOptions, auditId: '', userAgent: '', remoteAddress: '' },
  cancellation: neverCancelled(),
  notes: createNotes(),
});
