// What may stand in an AuthenticationConfiguration (k8s.io/apiserver/pkg/apis/apiserver/validation).
import { duplicate, type FieldError, invalid, type Path, required, root, tooMany } from '#apimachinery/field';
import { isDNS1123Subdomain } from '#apimachinery/validation';
import { compileClaimsExpression, compileUserRule, isProgram, type Program } from '#cel';
import { parseCertificates } from '#pki';
import type { AuthenticationConfiguration, ClaimMapping, ExtraMapping, JwtConfiguration } from './configuration.ts';
import { limits } from '../limits.ts';

type Issuer = NonNullable<JwtConfiguration['issuer']>;
type ClaimRule = NonNullable<JwtConfiguration['claimValidationRules']>[number];
type UserRule = NonNullable<JwtConfiguration['userValidationRules']>[number];

export function authenticationErrors({ jwt = [], anonymous }: AuthenticationConfiguration, own: readonly string[]): FieldError[] {
  const top = root('jwt');
  if (jwt.length > limits.jwtAuthenticatorsMax) return [tooMany(top, jwt.length, limits.jwtAuthenticatorsMax)];
  const [urls, discoveryUrls] = [new Set<string>(), new Set<string>()];
  const errors = jwt.flatMap((one, index) => {
    const path = top.index(index);
    const { url = '', discoveryURL = '' } = one.issuer ?? {};
    const twice = [
      ...(urls.has(url) ? [duplicate(path.child('issuer').child('url'), url)] : []),
      ...(discoveryURL !== '' && discoveryUrls.has(discoveryURL)
        ? [duplicate(path.child('issuer').child('discoveryURL'), discoveryURL)]
        : []),
    ];
    urls.add(url);
    discoveryUrls.add(discoveryURL);
    return [...jwtErrors(one, path, own), ...twice];
  });
  const { conditions = [] } = anonymous ?? {};
  if (anonymous && !anonymous.enabled && conditions.length > 0)
    errors.push(
      invalid(root('anonymous', 'conditions'), conditions, 'enabled should be set to true when conditions are defined'),
    );
  return errors;
}

const jwtErrors = (one: JwtConfiguration, path: Path, own: readonly string[]): FieldError[] => [
  ...issuerErrors(one.issuer ?? {}, path.child('issuer'), own),
  ...claimRuleErrors(one.claimValidationRules ?? [], path.child('claimValidationRules')),
  ...mappingErrors(one, path.child('claimMappings')),
  ...userRuleErrors(one.userValidationRules ?? [], path.child('userValidationRules')),
];

function urlErrors(text: string, path: Path, disallowed: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  if (disallowed.includes(text))
    errors.push(invalid(path, text, `URL must not overlap with disallowed issuers: [${[...disallowed].sort().join(' ')}]`));
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1]?.toLowerCase();
  if (scheme !== 'https') errors.push(invalid(path, text, 'URL scheme must be https'));
  const [beforeFragment = '', fragment = ''] = text.split('#', 2);
  const [address = '', query = ''] = beforeFragment.split('?', 2);
  if (/^[^/]*\/\/[^/]*@/.test(address)) errors.push(invalid(path, text, 'URL must not contain a username or password'));
  if (query !== '') errors.push(invalid(path, text, 'URL must not contain a query'));
  if (fragment !== '') errors.push(invalid(path, text, 'URL must not contain a fragment'));
  return errors;
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/** Why a bundle of certificates cannot be used; undefined where it can, or where no bundle is given (''). */
function wrongAuthority(bundle: string): string | undefined {
  if (bundle === '') return undefined;
  try {
    parseCertificates(bundle);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function issuerErrors(issuer: Issuer, path: Path, own: readonly string[]): FieldError[] {
  const { url = '', discoveryURL = '', certificateAuthority = '', egressSelectorType = '' } = issuer;
  const errors = url === '' ? [required(path.child('url'))] : urlErrors(url, path.child('url'), own);
  if (discoveryURL !== '') {
    if (url !== '' && withoutSlash(url) === withoutSlash(discoveryURL))
      errors.push(invalid(path.child('discoveryURL'), discoveryURL, 'discoveryURL must be different from URL'));
    errors.push(...urlErrors(discoveryURL, path.child('discoveryURL'), []));
  }
  errors.push(...audienceErrors(issuer, path));
  const wrong = wrongAuthority(certificateAuthority);
  if (wrong !== undefined) errors.push(invalid(path.child('certificateAuthority'), '<omitted>', wrong));
  if (egressSelectorType !== '')
    errors.push(
      invalid(
        path.child('egressSelectorType'),
        egressSelectorType,
        ['controlplane', 'cluster'].includes(egressSelectorType)
          ? 'egress selector is not supported: there is no client of network proxies'
          : 'egress selector must be either controlplane or cluster',
      ),
    );
  return errors;
}

function audienceErrors({ audiences = [], audienceMatchPolicy: policy = '' }: Issuer, path: Path): FieldError[] {
  const at = path.child('audiences');
  if (audiences.length === 0) return [required(at, `at least one ${at.toString()} is required`)];
  const errors = audiences.flatMap((audience, index) => [
    ...(audience === '' ? [required(at.index(index))] : []),
    ...(audiences.indexOf(audience) < index ? [duplicate(at.index(index), audience)] : []),
  ]);
  const policyPath = path.child('audienceMatchPolicy');
  if (audiences.length > 1 && policy !== 'MatchAny')
    errors.push(invalid(policyPath, policy, 'audienceMatchPolicy must be MatchAny for multiple audiences'));
  if (audiences.length === 1 && policy !== '' && policy !== 'MatchAny')
    errors.push(invalid(policyPath, policy, 'audienceMatchPolicy must be empty or MatchAny for single audience'));
  return errors;
}

const expressionErrors = (compiled: Program | { problem: string }, path: Path, expression: string): FieldError[] =>
  isProgram(compiled) ? [] : [invalid(path, expression, compiled.problem)];

function claimRuleErrors(rules: readonly ClaimRule[], path: Path): FieldError[] {
  const seen = { claims: new Set<string>(), expressions: new Set<string>() };
  return rules.flatMap((rule, index) => {
    const at = path.index(index);
    const { claim = '', expression = '', message = '', requiredValue = '' } = rule;
    if (claim !== '' && expression !== '') return [invalid(at, claim, "claim and expression can't both be set")];
    if (claim !== '') {
      const errors = message === '' ? [] : [invalid(at.child('message'), message, 'may not be specified when claim is set')];
      if (seen.claims.has(claim)) errors.push(duplicate(at.child('claim'), claim));
      seen.claims.add(claim);
      return errors;
    }
    if (expression === '') return [required(at, 'claim or expression is required')];
    const errors =
      requiredValue === ''
        ? []
        : [invalid(at.child('requiredValue'), requiredValue, 'may not be specified when expression is set')];
    if (seen.expressions.has(expression)) return [...errors, duplicate(at.child('expression'), expression)];
    seen.expressions.add(expression);
    return [...errors, ...expressionErrors(compileClaimsExpression(expression, true), at.child('expression'), expression)];
  });
}

function claimErrors(mapping: ClaimMapping, path: Path, needed: boolean): FieldError[] {
  const { claim = '', expression = '', prefix } = mapping;
  if (claim !== '' && expression !== '') return [invalid(path, '', "claim and expression can't both be set")];
  if (expression !== '')
    return [
      ...(prefix === undefined ? [] : [invalid(path.child('prefix'), prefix, 'may not be specified when expression is set')]),
      ...expressionErrors(compileClaimsExpression(expression, false), path.child('expression'), expression),
    ];
  if (claim === '') return needed ? [required(path, 'claim or expression is required')] : [];
  return prefix === undefined
    ? [
        required(
          path.child('prefix'),
          'prefix is required when claim is set. It can be set to an empty string to disable prefixing',
        ),
      ]
    : [];
}

const emailUnverified =
  'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression';

function mappingErrors({ claimMappings = {}, claimValidationRules = [] }: JwtConfiguration, path: Path): FieldError[] {
  const { username = {}, groups = {}, uid = {}, extra = [] } = claimMappings;
  const errors = [
    ...claimErrors(username, path.child('username'), true),
    ...claimErrors(groups, path.child('groups'), false),
    ...uidErrors(uid, path.child('uid')),
    ...extraErrors(extra, path.child('extra')),
  ];
  const { expression = '' } = username;
  const verifies = [expression, ...extra.map((one) => one.valueExpression), ...claimValidationRules.map((one) => one.expression)];
  if (names(expression, 'email') && !verifies.some((text) => names(text, 'email_verified')))
    errors.push(invalid(path.child('username', 'expression'), expression, emailUnverified));
  return errors;
}

/** Whether an expression reads that claim, as a field or as an optional one. */
const names = (expression: string | undefined, claim: string): boolean =>
  new RegExp(`\\bclaims\\s*\\.\\s*\\??\\s*${claim}\\b(?!_)`).test(withoutStrings(expression ?? ''));

const withoutStrings = (expression: string): string => expression.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""');

function uidErrors({ claim = '', expression = '' }: { claim?: string; expression?: string }, path: Path): FieldError[] {
  if (claim !== '' && expression !== '') return [invalid(path, '', "claim and expression can't both be set")];
  return expression === ''
    ? []
    : expressionErrors(compileClaimsExpression(expression, false), path.child('expression'), expression);
}

function extraErrors(extra: readonly ExtraMapping[], path: Path): FieldError[] {
  const seen = new Set<string>();
  return extra.flatMap(({ key = '', valueExpression = '' }, index) => {
    const at = path.index(index);
    const errors = keyErrors(key, at.child('key'));
    if (seen.has(key)) return [...errors, duplicate(at.child('key'), key)];
    seen.add(key);
    if (valueExpression === '') return [...errors, required(at.child('valueExpression'))];
    return [
      ...errors,
      ...expressionErrors(compileClaimsExpression(valueExpression, false), at.child('valueExpression'), valueExpression),
    ];
  });
}

const httpPath = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

function keyErrors(key: string, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  const slash = key.indexOf('/');
  const [domain, rest] = slash < 0 ? [key, ''] : [key.slice(0, slash), key.slice(slash + 1)];
  if (key === '') errors.push(required(path));
  else if (domain === '' || rest === '')
    errors.push(invalid(path, key, 'must be a domain-prefixed path (such as "acme.io/foo")'));
  else {
    errors.push(...isDNS1123Subdomain(domain).map((problem) => invalid(path, domain, problem)));
    if (!httpPath.test(rest))
      errors.push(invalid(path, rest, "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"));
  }
  if (key !== key.toLowerCase()) errors.push(invalid(path, key, 'must be lowercase'));
  if (slash >= 0 && /(^|\.)(kubernetes|k8s)\.io$/.test(domain))
    errors.push(invalid(path, key, 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'));
  return errors;
}

function userRuleErrors(rules: readonly UserRule[], path: Path): FieldError[] {
  const seen = new Set<string>();
  return rules.flatMap(({ expression = '' }, index) => {
    const at = path.index(index).child('expression');
    if (expression === '') return [required(at)];
    if (seen.has(expression)) return [duplicate(at, expression)];
    seen.add(expression);
    return expressionErrors(compileUserRule(expression), at, expression);
  });
}

/** The algorithms that `--oidc-signing-algs` may name; with a configuration file all of them are accepted. */
export const signingAlgorithms = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'] as const;

/** Throws an Error for one that is not among them. */
export function checkAlgorithms(algorithms: readonly string[]): void {
  for (const algorithm of algorithms)
    if (notSupportedAlgorithm(algorithm)) throw new Error(`oidc: unsupported signing alg: ${JSON.stringify(algorithm)}`);
}
const notSupportedAlgorithm = (algorithm: string): boolean => !(signingAlgorithms as readonly string[]).includes(algorithm);
