// The options of a kube-apiserver name files: configurations, keys, authorities. They are read here, before the server waits for its store, so that a
// mistake in one of them is reported at once and before anything has been started.
import { silentLogger } from '#utils';
import { assertServable } from '#wire';
import { checkAdmissionFiles } from '../admission/index.ts';
import { readAudit } from '../audit/index.ts';
import { checkEncryptionFile } from '../encryption/index.ts';
import { checkAuthenticationFiles } from './authentication.ts';
import { checkAuthorizationFiles } from './authorization.ts';
import { tlsOf } from './doors.ts';
import type { KubeApiServerOptions } from './options.ts';
import { selectionOf } from './parts.ts';

/** Rejects in the words in which the server, once its store answers, would refuse to start. */
export async function checkNamedFiles(options: KubeApiServerOptions): Promise<void> {
  if (options.encryption) await checkEncryptionFile(options.encryption);
  await readAudit(options.audit, silentLogger);
  await checkAuthorizationFiles(options);
  await checkAuthenticationFiles(options);
  await checkAdmissionFiles(selectionOf(options), options.admissionConfiguration ?? new Map());
  if (options.serving) assertServable(tlsOf(options, options.serving));
}
