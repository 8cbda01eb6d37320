// Addresses that traffic may be sent to (pkg/apis/core/validation, ValidateEndpointIP).
import type { Path } from '#apimachinery/field';
import { ipFamily, ipText, parseIP } from '#apimachinery/validation';
import type { Report } from '../../common/report.ts';

/** No loopback, link-local or unspecified addresses: they would reach what is on the node. */
export function validateEndpointIP(report: Report, path: Path, value: string): void {
  const address = parseIP(value);
  if (address === undefined) return report.invalid(path, value, 'must be a valid IP address');
  const text = ipText(address);
  const four = ipFamily(address) === 4;
  if (text === '0.0.0.0' || text === '::') report.invalid(path, value, `may not be unspecified (${value})`);
  if (four ? text.startsWith('127.') : text === '::1')
    report.invalid(path, value, 'may not be in the loopback range (127.0.0.0/8, ::1/128)');
  if (four ? text.startsWith('169.254.') : /^fe[89ab]/.test(text)) {
    report.invalid(path, value, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if (four ? text.startsWith('224.0.0.') : /^ff[0-9a-f]2:/.test(text)) {
    report.invalid(path, value, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
}
