// One line of text for an event (--audit-log-format=legacy; k8s.io/apiserver/pkg/audit, EventString).
import { quote } from '#utils';
import type { AuditEvent } from './record.ts';

const list = (items: readonly string[]): string => items.map(quote).join(',');

/** RFC 3339 with as many digits as there are. */
const shortTime = (microTime: string): string => microTime.replace(/\.?0+Z$/, 'Z');

export function legacyLine(event: AuditEvent): string {
  const { user, impersonatedUser, objectRef, responseStatus, sourceIPs } = event;
  const { username = '', groups = [] } = user;
  const shown = {
    id: event.auditID,
    stage: event.stage,
    ip: sourceIPs?.[0] ?? '<unknown>',
    method: event.verb,
    user: username || '<none>',
    groups: username && groups.length > 0 ? list(groups) : '<none>',
    as: impersonatedUser ? (impersonatedUser.username ?? '') : '<self>',
    asgroups: impersonatedUser?.groups ? list(impersonatedUser.groups) : '<lookup>',
    'user-agent': event.userAgent ?? '',
    namespace: objectRef?.namespace || '<none>',
    uri: event.requestURI,
  };
  const fields = Object.entries(shown).map(([name, value]) => `${name}=${quote(value)}`);
  const code = responseStatus ? String(responseStatus.code ?? 0) : '<deferred>';
  return `${shortTime(event.requestReceivedTimestamp)} AUDIT: ${fields.join(' ')} response="${code}"`;
}
