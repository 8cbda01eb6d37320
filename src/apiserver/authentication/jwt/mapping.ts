// The user that the claims of a verified token stand for (k8s.io/apiserver/plugin/pkg/authenticator/token/oidc). Pure.
import {
  budgetWorkUnits,
  CelError,
  celTypes,
  compileClaimsExpression,
  compileUserRule,
  fromJson,
  isProgram,
  ObjectValue,
  type Program,
  toJson,
  userInfoType,
  type Value,
} from '#cel';
import { Work } from '#regexp';
import { own } from '#utils';
import type { UserInfo } from '../../request/request.ts';
import type { JwtConfiguration } from './configuration.ts';

export type Claims = Readonly<Record<string, unknown>>;

const claimsType = celTypes.map(celTypes.string, celTypes.dyn);

/** Makes the user, or throws an Error in upstream's words. */
export type ClaimMapper = (claims: Claims) => UserInfo;

const credentialIdKey = 'authentication.kubernetes.io/credential-id';

interface Rule {
  expression: string;
  message: string;
  program: Program;
}

/** The program of an expression that validation accepted. */
function programOf(compiled: Program | { problem: string }): Program {
  if (!isProgram(compiled)) throw new Error(compiled.problem);
  return compiled;
}
const claimsProgram = (expression: string | undefined): Program | undefined =>
  expression ? programOf(compileClaimsExpression(expression, false)) : undefined;

/** What one token may cost. */
class Evaluation {
  readonly #work = new Work(budgetWorkUnits);
  readonly #variables: ReadonlyMap<string, Value>;
  constructor(name: string, value: Value) {
    this.#variables = new Map([[name, value]]);
  }
  /** Throws an Error that says which expression failed. */
  run(program: Program, what: string, expression: string): Value {
    try {
      return program.evaluate(this.#variables, { work: this.#work });
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      throw new Error(`oidc: error evaluating ${what}: expression '${expression}' resulted in error: ${error.message}`, {
        cause: error,
      });
    }
  }
}

const goType = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'object' ? 'object' : typeof value;
};

function claimText(claims: Claims, name: string): string {
  const value = own(claims, name);
  if (value === undefined) throw new Error('claim not present');
  if (typeof value !== 'string') throw new Error(`json: cannot unmarshal ${goType(value)} into Go value of type string`);
  return value;
}

/** The texts of a value that is a text or a list of texts. null, '' and [] give none. */
function texts(value: Value): string[] {
  const json = toJson(value);
  if (json === null || json === undefined) return [];
  if (typeof json === 'string') return json === '' ? [] : [json];
  if (Array.isArray(json) && json.every((item) => typeof item === 'string')) return json.filter((item) => item !== '');
  throw new Error('expression must return a string or a list of strings');
}

export function claimMapper(configuration: JwtConfiguration): ClaimMapper {
  const mapping = new Mapping(configuration.claimMappings ?? {});
  const { claimValidationRules = [], userValidationRules = [] } = configuration;
  const claimRules: Rule[] = claimValidationRules.flatMap(({ expression = '', message = '' }) =>
    expression === '' ? [] : [{ expression, message, program: programOf(compileClaimsExpression(expression, true)) }],
  );
  const userRules: Rule[] = userValidationRules.map(({ expression = '', message = '' }) => ({
    expression,
    message,
    program: programOf(compileUserRule(expression)),
  }));
  const required = claimValidationRules.filter(({ claim }) => claim);
  return (claims) => {
    const evaluation = new Evaluation('claims', fromJson(claims, claimsType));
    const user = mapping.userOf(claims, evaluation);
    for (const { claim = '', requiredValue = '' } of required) checkRequired(claims, claim, requiredValue);
    checkRules(claimRules, evaluation, 'claim validation expression');
    if (userRules.length > 0) checkRules(userRules, new Evaluation('user', userValue(user)), 'user info validation rule');
    return user;
  };
}

/** The mappings of one issuer, compiled. */
class Mapping {
  readonly #from: NonNullable<JwtConfiguration['claimMappings']>;
  readonly #username: Program | undefined;
  readonly #groups: Program | undefined;
  readonly #uid: Program | undefined;
  readonly #extra: readonly { key: string; expression: string; program: Program }[];

  constructor(from: NonNullable<JwtConfiguration['claimMappings']>) {
    this.#from = from;
    this.#username = claimsProgram(from.username?.expression);
    this.#groups = claimsProgram(from.groups?.expression);
    this.#uid = claimsProgram(from.uid?.expression);
    this.#extra = (from.extra ?? []).map(({ key = '', valueExpression = '' }) => ({
      key,
      expression: valueExpression,
      program: programOf(compileClaimsExpression(valueExpression, false)),
    }));
  }

  userOf(claims: Claims, evaluation: Evaluation): UserInfo {
    const user: UserInfo = { name: this.#nameOf(claims, evaluation), groups: this.#groupsOf(claims, evaluation) };
    const uid = this.#uidOf(claims, evaluation);
    if (uid !== '') user.uid = uid;
    const extra = this.#extraOf(claims, evaluation);
    if (Object.keys(extra).length > 0) user.extra = extra;
    return user;
  }

  #nameOf(claims: Claims, evaluation: Evaluation): string {
    const { claim = '', prefix = '', expression = '' } = this.#from.username ?? {};
    if (this.#username) {
      const name = this.#text(this.#username, evaluation, 'username', expression);
      if (name === '') throw new Error('oidc: empty username via CEL expression is not allowed');
      return name;
    }
    const name = named(`parse username claims ${JSON.stringify(claim)}`, () => claimText(claims, claim));
    if (claim === 'email') checkEmail(claims);
    return prefix + name;
  }

  #groupsOf(claims: Claims, evaluation: Evaluation): string[] {
    const { claim = '', prefix = '', expression = '' } = this.#from.groups ?? {};
    if (claim !== '') return groupsOfClaim(claims, claim).map((group) => prefix + group);
    if (!this.#groups) return [];
    const value = evaluation.run(this.#groups, 'group claim expression', expression);
    return named('error evaluating group claim expression', () => texts(value));
  }

  #uidOf(claims: Claims, evaluation: Evaluation): string {
    const { claim = '', expression = '' } = this.#from.uid ?? {};
    if (claim !== '') return named(`parse uid claim ${JSON.stringify(claim)}`, () => claimText(claims, claim));
    return this.#uid ? this.#text(this.#uid, evaluation, 'uid', expression) : '';
  }

  #extraOf(claims: Claims, evaluation: Evaluation): Record<string, string[]> {
    const id = own(claims, 'jti');
    const mapped = this.#extra.map(({ key, expression, program }): [string, string[]] => {
      const value = evaluation.run(program, 'extra claim expression', expression);
      return [key, named('error evaluating extra claim expression', () => texts(value))];
    });
    const credential: [string, string[]] = [credentialIdKey, typeof id === 'string' && id !== '' ? [`JTI=${id}`] : []];
    return Object.fromEntries([credential, ...mapped].filter(([, list]) => list.length > 0));
  }

  #text(program: Program, evaluation: Evaluation, what: string, expression: string): string {
    const value = evaluation.run(program, `${what} claim expression`, expression);
    if (typeof value === 'string') return value;
    throw new Error(`oidc: error evaluating ${what} claim expression: ${what} claim expression must return a string`);
  }
}

/** The groups that a claim names: a text names one, a list of texts several. */
function groupsOfClaim(claims: Claims, claim: string): string[] {
  const given = own(claims, claim);
  if (given === undefined) return [];
  const list = typeof given === 'string' ? [given] : given;
  if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list;
  const why = `json: cannot unmarshal ${goType(given)} into Go value of type string`;
  throw new Error(`oidc: parse groups claim ${JSON.stringify(claim)}: ${why}`);
}

const userValue = ({ name, uid = '', groups, extra = {} }: UserInfo): Value =>
  new ObjectValue({ username: name, uid, groups, extra }, userInfoType);

/** Says what was being done when it failed. */
function named<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new Error(`oidc: ${what}: ${(error as Error).message}`, { cause: error });
  }
}

function checkEmail(claims: Claims): void {
  const verified = own(claims, 'email_verified');
  if (verified === undefined) return;
  if (typeof verified !== 'boolean')
    throw new Error(`oidc: parse 'email_verified' claim: json: cannot unmarshal ${goType(verified)} into Go value of type bool`);
  if (!verified) throw new Error('oidc: email not verified');
}

function checkRequired(claims: Claims, claim: string, wanted: string): void {
  if (own(claims, claim) === undefined) throw new Error(`oidc: required claim ${claim} not present in ID token`);
  const got = named(`parse claim ${claim}`, () => claimText(claims, claim));
  if (got !== wanted) throw new Error(`oidc: required claim ${claim} value does not match. Got = ${got}, want = ${wanted}`);
}

function checkRules(rules: readonly Rule[], evaluation: Evaluation, what: string): void {
  for (const { program, expression, message } of rules) {
    const value = evaluation.run(program, what, expression);
    if (value === true) continue;
    const why =
      message === ''
        ? `validation expression '${expression}' failed`
        : `validation expression '${expression}' failed: ${message}`;
    throw new Error(`oidc: error evaluating ${what}: ${why}`);
  }
}
