// Tokens of a file (`--token-auth-file`): "token,user,uid[,"group1,group2"]" a line (k8s.io/apiserver/pkg/authentication/token/tokenfile).
import type { UserInfo } from '../request/request.ts';
import type { AuthenticatedUser, TokenAuthenticator } from './types.ts';

/** One CSV record; quotes may hold commas and doubled quotes. */
function fieldsOf(line: string): string[] {
  const fields: string[] = [];
  const pattern = /\s*(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/y;
  while (pattern.lastIndex <= line.length) {
    const match = pattern.exec(line);
    if (!match) throw new Error('parse error: bare or unterminated " in token file');
    fields.push(match[1] !== undefined ? match[1].replaceAll('""', '"') : (match[2] ?? ''));
    if (!match[0].endsWith(',')) break;
  }
  return fields;
}

/** Reads the file's text. Throws an Error that names the file when a line is malformed. */
export function parseTokenFile(text: string, path: string): Map<string, UserInfo> {
  const users = new Map<string, UserInfo>();
  for (const line of text.split(/\r?\n/)) {
    if (line === '') continue;
    const record = fieldsOf(line);
    const [token, name, uid, groups] = record;
    if (token === undefined || name === undefined || uid === undefined) {
      throw new Error(`token file '${path}' must have at least 3 columns (token, user name, user uid), found ${record.length}`);
    }
    if (token === '') continue;
    users.set(token, { name, ...(uid !== '' && { uid }), groups: groups ? groups.split(',') : [] });
  }
  return users;
}

/** Makes the authenticator that knows the tokens of a file. */
export function createStaticTokenAuthenticator(users: ReadonlyMap<string, UserInfo>): TokenAuthenticator {
  const answers = new Map<string, AuthenticatedUser>([...users].map(([token, user]) => [token, { user }]));
  return { authenticateToken: (token) => answers.get(token) };
}
