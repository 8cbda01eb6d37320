// Programs of one mutating policy and what they make of an object (k8s.io/apiserver/pkg/admission/plugin/policy/mutating, patch).
import type { MutatingAdmissionPolicySpec } from '#api/admissionregistration/v1';
import { builtinResources } from '#api';
import { internalError, serviceUnavailable } from '#apimachinery/errors';
import { ConfigurationProblem, layOver } from '#apimachinery/managedfields';
import { apiVersionOf, parseApiVersion, type UnknownObject } from '#apimachinery/meta';
import { applyOperations } from '#apimachinery/patch';
import { decode, DecodeError } from '#apimachinery/schema';
import { applyConfigurationOf, budgetCostMax, CelError, isProgram, jsonPatchOf, type Value } from '#cel';
import type { AdmittedType } from '../../../registry/generic/admission.ts';
import { Budget, BudgetError, type Named, PolicyExpressions } from '../../policy/expressions.ts';
import type { Input } from '../../policy/input.ts';
import type { Sight } from '../../sight.ts';

/** A mutation cannot be done: the failure policy decides. */
export class MutationProblem extends Error {}

type Patch = (object: UnknownObject, value: Value, type: AdmittedType) => UnknownObject;

/** One mutation of a policy, with its expressions compiled. */
export interface CompiledMutation extends Named {
  patch: Patch;
}

/** The expressions of a policy, compiled. */
export class CompiledMutations {
  readonly expressions: PolicyExpressions;
  readonly mutations: readonly CompiledMutation[];

  constructor(spec: MutatingAdmissionPolicySpec) {
    this.expressions = new PolicyExpressions(spec);
    const compile = (expression: string, returns: string, patch: Patch): CompiledMutation => ({
      ...this.expressions.compile(expression, { hasPatchTypes: true, returns: [returns] }),
      patch,
    });
    this.mutations = (spec.mutations ?? []).flatMap(({ patchType, applyConfiguration, jsonPatch }) => {
      if (patchType === 'JSONPatch') return jsonPatch ? compile(jsonPatch.expression ?? '', 'list(JSONPatch)', byJsonPatch) : [];
      return applyConfiguration ? compile(applyConfiguration.expression ?? '', 'Object', byConfiguration) : [];
    });
  }

  /**
   * What one mutation makes of an object of the sight's version; the object itself is left alone. Throws `MutationProblem`, `StatusError`
   * for what no failure policy decides, and `PendingAnswer` where an authorizer needs time.
   */
  mutate(
    { expression, program, patch }: CompiledMutation,
    object: UnknownObject,
    input: Input,
    { type, kind }: Sight,
  ): UnknownObject {
    if (!isProgram(program)) throw new MutationProblem(program.problem);
    if (!type) throw notFoundYet(kind);
    const { variables, authorizer, namespace } = input;
    try {
      const budget = new Budget(budgetCostMax);
      const scope = this.expressions.scope(budget, new Map([...variables, ...authorizer, ['namespaceObject', namespace]]));
      const result = budget.result({ expression, program }, scope);
      if ('error' in result) throw new MutationProblem(result.error);
      const mutated = patch(object, result.value, type);
      type.setDefaults(mutated);
      return mutated;
    } catch (error) {
      if (error instanceof CelError || error instanceof BudgetError) throw new MutationProblem(error.message);
      throw error;
    }
  }
}

const kindText = ({ group, version, kind }: AdmittedType['kind']): string => `${group}/${version}, Kind=${kind}`;

const notFoundYet = (kind: AdmittedType['kind']): Error =>
  serviceUnavailable(
    `Resource kind ${kindText(kind)} not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.`,
  );

/** Options of connections; upstream publishes no schema of them. */
const isConnection = (kind: string): boolean => kind.endsWith('Options');

/** Whether the kind's own group publishes its schema: of bodies of other groups' subresources it does not. */
const isPublished = ({ kind, custom }: AdmittedType): boolean =>
  custom ||
  builtinResources().some(
    (one) =>
      one.group === kind.group &&
      one.version === kind.version &&
      one.kind.group === kind.group &&
      one.kind.kind === kind.kind &&
      !isConnection(kind.kind),
  );

const byConfiguration: Patch = (object, value, type) => {
  const configuration = applyConfigurationOf(value);
  const { schema, typeName, kind } = type;
  const stated = { ...configuration, apiVersion: object.apiVersion, kind: object.kind };
  try {
    if (!isPublished(type))
      throw new ConfigurationProblem(
        `failed to convert patch object to typed object: no corresponding type for ${kindText(kind)}`,
      );
    const merged = layOver(schema, typeName, object, stated);
    if (type.custom) return structuredClone(merged);
    return decode(schema, typeName, merged).object as UnknownObject;
  } catch (error) {
    if (error instanceof ConfigurationProblem) throw new MutationProblem(`error applying patch: ${error.message}`);
    if (error instanceof DecodeError) {
      // Only a fraction can come so far where a whole number is wanted.
      const wanted = /type (u?int\d+)$/.exec(error.message)?.[1];
      const why = wanted
        ? `cannot convert float64 to ${wanted}`
        : error.message.replace(/^illegal base64/, 'error decoding from json: $&');
      throw new MutationProblem(`unable to convert unstructured object to ${kindText(kind)}: ${why}`);
    }
    throw error;
  }
};

/** A patch may not make it something else. Throws 500, as no failure policy lets that pass. */
function checkKind(made: UnknownObject, { kind: { group, version, kind } }: AdmittedType): void {
  if (made.kind === kind && made.apiVersion === apiVersionOf(group, version)) return;
  const { version: other } = parseApiVersion(made.apiVersion ?? '');
  const internal = group.split('.')[0] || 'core';
  throw internalError(
    `failed to convert object: converting (${other}.${made.kind}) to (${internal}.${kind}): unknown conversion`,
  );
}

/** A custom object as its schema reads it; metadata that does not fit its type is dropped, as upstream drops it. */
function readCustom(made: UnknownObject, { read }: AdmittedType): UnknownObject {
  if (!read) return structuredClone(made);
  const fits = ([name, value]: [string, unknown]): boolean => {
    try {
      read({ metadata: { [name]: value } }, false);
      return true;
    } catch (error) {
      if (error instanceof DecodeError) return false;
      throw error;
    }
  };
  const metadata = Object.fromEntries(Object.entries(made.metadata ?? {}).filter(fits));
  const { apiVersion, kind } = made;
  return { ...read({ ...made, metadata }, false).object, apiVersion, kind };
}

const byJsonPatch: Patch = (object, value, type) => {
  const operations = jsonPatchOf(value);
  const { schema, typeName, custom } = type;
  // As upstream encodes it: structs are there although nothing is in them.
  const document = custom ? object : decode(schema, typeName, object).object;
  const outcome = applyOperations(document, operations, true);
  if ('problem' in outcome) {
    if (outcome.testFailed) return object;
    throw new MutationProblem(`JSON Patch: ${outcome.problem}`);
  }
  const made = outcome.result as UnknownObject;
  if (custom) return readCustom(made, type);
  checkKind(made, type);
  try {
    const { object: read, strictErrors } = decode(schema, typeName, made, { strict: true });
    if (strictErrors.length > 0) throw internalError(`strict decoding error: ${strictErrors.join(', ')}`);
    return read as UnknownObject;
  } catch (error) {
    if (error instanceof DecodeError) throw internalError(error.message);
    throw error;
  }
};
