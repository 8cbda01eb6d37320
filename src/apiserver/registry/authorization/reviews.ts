// Questions about rights: SubjectAccessReview and its kin (pkg/registry/authorization).
import { own } from '#utils';
import type {
  LocalSubjectAccessReview,
  NonResourceAttributes,
  ResourceAttributes,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
} from '#api/authorization/v1';
import { badRequest, invalidObject } from '#apimachinery/errors';
import { type FieldError, forbidden, invalid, type Path, required, root } from '#apimachinery/field';
import { parse as parseFields } from '#apimachinery/fields';
import { parse as parseLabels } from '#apimachinery/labels';
import { asKind, type KubeObject } from '#apimachinery/meta';
import { validateLabelSelectorRequirement } from '#apimachinery/validation';
import { inWireOrder } from '../generic/metadata.ts';
import type { Authorizer } from '../../authorization/types.ts';
import type { Attributes, UserInfo } from '../../request/request.ts';
import type { SpecialContext, SpecialRest } from '../special.ts';

const group = 'authorization.k8s.io';
const spec = root('spec');

type Requirement = { key?: string; operator?: string; values?: string[] };
type Selector = { rawSelector?: string; requirements?: Requirement[] };

function selectorErrors(selector: Selector | undefined, path: Path, ofLabels: boolean): FieldError[] {
  if (!selector) return [];
  const raw = selector.rawSelector ?? '';
  const all = selector.requirements ?? [];
  const errors: FieldError[] = [];
  if (raw !== '' && all.length > 0) {
    errors.push(invalid(path.child('rawSelector'), raw, 'may not specified at the same time as requirements'));
  }
  if (raw === '' && all.length === 0) {
    const why = `when ${path.toString()} is specified, requirements or rawSelector is required`;
    errors.push(required(path.child('requirements'), why));
  }
  return [...errors, ...all.flatMap((each, at) => requirementErrors(each, path.child('requirements').index(at), ofLabels))];
}

/** Operators that are not known may be a newer client's: no error, but nothing is known of what they stand for. */
function requirementErrors(requirement: Requirement, path: Path, ofLabels: boolean): FieldError[] {
  const { key = '', operator = '', values = [] } = requirement;
  if (ofLabels) return validateLabelSelectorRequirement({ key, operator, values }, path, { allowUnknownOperators: true });
  const errors = key === '' ? [required(path.child('key'), 'must be specified')] : [];
  if (['In', 'NotIn'].includes(operator) && values.length === 0) {
    errors.push(required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'"));
  }
  if (['Exists', 'DoesNotExist'].includes(operator) && values.length > 0) {
    errors.push(forbidden(path.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  }
  return errors;
}

interface Question {
  resourceAttributes?: ResourceAttributes;
  nonResourceAttributes?: NonResourceAttributes;
}

function questionErrors({ resourceAttributes, nonResourceAttributes }: Question): FieldError[] {
  const errors: FieldError[] = [];
  if (resourceAttributes && nonResourceAttributes) {
    // Upstream prints its internal type here, with Go's names.
    const value = { Path: nonResourceAttributes.path ?? '', Verb: nonResourceAttributes.verb ?? '' };
    errors.push(
      invalid(spec.child('nonResourceAttributes'), value, 'cannot be specified in combination with resourceAttributes'),
    );
  }
  if (!resourceAttributes && !nonResourceAttributes) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    errors.push(invalid(spec.child('resourceAttributes'), null, why));
  }
  return errors;
}

const attributeErrors = ({ resourceAttributes }: Question): FieldError[] => [
  ...selectorErrors(resourceAttributes?.fieldSelector, spec.child('resourceAttributes', 'fieldSelector'), false),
  ...selectorErrors(resourceAttributes?.labelSelector, spec.child('resourceAttributes', 'labelSelector'), true),
];

const subjectErrors = ({ user, groups }: SubjectAccessReviewSpec): FieldError[] =>
  !user && !groups?.length ? [invalid(spec.child('user'), user ?? '', 'at least one of user or group must be specified')] : [];

function metadataErrors(object: KubeObject, allowNamespace: boolean): FieldError[] {
  const { managedFields: _, namespace, ...rest } = object.metadata;
  const others = { ...rest, ...(!allowNamespace && namespace && { namespace }) };
  if (Object.values(others).every((value) => value === undefined)) return [];
  return [
    invalid(
      root('metadata'),
      inWireOrder(object.metadata),
      allowNamespace ? 'must be empty except for namespace' : 'must be empty',
    ),
  ];
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group, kind: '' }, '', errors);
}

const operators: Record<string, string> = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' };

/** What can be understood of a selector as text, and whether something could not. */
function readSelector(selector: Selector | undefined, kind: 'field' | 'label'): { text?: string; problem?: string } {
  if (!selector) return {};
  const ignored = (partly: boolean): string =>
    `spec.resourceAttributes.${kind}Selector ${partly ? 'partially ignored' : 'ignored'} due to parse error`;
  if (selector.rawSelector) {
    try {
      (kind === 'field' ? parseFields : parseLabels)(selector.rawSelector);
      return { text: selector.rawSelector };
    } catch {
      return { problem: ignored(false) };
    }
  }
  const terms: string[] = [];
  const all = selector.requirements ?? [];
  for (const { key = '', operator = '', values = [] } of all) {
    const term = kind === 'field' ? fieldTerm(key, operator, values) : labelTerm(key, operator, values);
    if (term !== undefined) terms.push(term);
  }
  return {
    ...(terms.length > 0 && { text: terms.join(',') }),
    ...(terms.length < all.length && { problem: ignored(terms.length > 0) }),
  };
}

function fieldTerm(key: string, operator: string, values: readonly string[]): string | undefined {
  if (values.length !== 1) return undefined;
  return operator === 'In' ? `${key}=${values[0]}` : operator === 'NotIn' ? `${key}!=${values[0]}` : undefined;
}

function labelTerm(key: string, operator: string, values: readonly string[]): string | undefined {
  const word = own(operators, operator);
  const term = word === '!' ? `!${key}` : word === 'exists' ? key : word && `${key} ${word} (${values.join(',')})`;
  try {
    return term && parseLabels(term).toString() && term;
  } catch {
    return undefined;
  }
}

async function answer(authorizer: Authorizer, user: UserInfo, question: Question): Promise<SubjectAccessReviewStatus> {
  const { resourceAttributes: asked, nonResourceAttributes: path } = question;
  const fields = readSelector(asked?.fieldSelector, 'field');
  const labels = readSelector(asked?.labelSelector, 'label');
  const attributes: Attributes = asked
    ? {
        user,
        verb: asked.verb ?? '',
        target: {
          group: asked.group ?? '',
          version: asked.version || '*',
          resource: asked.resource ?? '',
          subresource: asked.subresource ?? '',
          namespace: asked.namespace ?? '',
          name: asked.name ?? '',
        },
        options: {
          ...(fields.text !== undefined && { fieldSelector: fields.text }),
          ...(labels.text !== undefined && { labelSelector: labels.text }),
        },
      }
    : { user, verb: path?.verb ?? '', path: path?.path ?? '' };
  const decision = await authorizer.authorize(attributes);
  const problems = [fields.problem, labels.problem].filter((problem) => problem !== undefined);
  return {
    allowed: decision.allowed,
    ...(decision.denied && { denied: true }),
    ...(decision.reason !== '' && { reason: decision.reason }),
    ...(problems.length > 0 && { evaluationError: problems.join('; ') }),
  };
}

const subjectOf = ({ user, groups, uid, extra }: SubjectAccessReviewSpec): UserInfo => ({
  name: user ?? '',
  groups: groups ?? [],
  ...(uid && { uid }),
  ...(extra && { extra }),
});

const review = (kind: string, namespaced: boolean, ask: (context: SpecialContext) => Promise<KubeObject>): SpecialRest => ({
  group,
  version: 'v1',
  resource: `${kind.toLowerCase()}s`,
  subresource: '',
  namespaced,
  methods: ['POST'],
  kind: { group, version: 'v1', kind },
  handle: async (context) => ({ status: 201, object: await ask(context) }),
});

/** Makes the four endpoints of authorization.k8s.io, which answer who may do what. */
export function accessReviewEndpoints(authorizer: Authorizer): SpecialRest[] {
  return [
    review('SubjectAccessReview', false, async (context) => {
      const object = asKind<SubjectAccessReview>(context.object);
      refuse([
        ...questionErrors(object.spec),
        ...subjectErrors(object.spec),
        ...attributeErrors(object.spec),
        ...metadataErrors(object, false),
      ]);
      await context.validate();
      return { ...object, status: await answer(authorizer, subjectOf(object.spec), object.spec) } as KubeObject;
    }),
    review('SelfSubjectAccessReview', false, async (context) => {
      const object = asKind<SelfSubjectAccessReview>(context.object);
      refuse([...questionErrors(object.spec), ...attributeErrors(object.spec), ...metadataErrors(object, false)]);
      await context.validate();
      return { ...object, status: await answer(authorizer, context.request.user, object.spec) } as KubeObject;
    }),
    review('LocalSubjectAccessReview', true, async (context) => {
      const object = asKind<LocalSubjectAccessReview>(context.object);
      refuse([
        ...questionErrors(object.spec),
        ...subjectErrors(object.spec),
        ...attributeErrors(object.spec),
        ...metadataErrors(object, true),
        ...localErrors(object),
      ]);
      if (object.metadata.namespace !== context.target.namespace) {
        throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${context.target.namespace}`);
      }
      await context.validate();
      return { ...object, status: await answer(authorizer, subjectOf(object.spec), object.spec) } as KubeObject;
    }),
    review('SelfSubjectRulesReview', false, async (context) => {
      const { spec: asked } = asKind<SelfSubjectRulesReview>(context.object);
      if (!asked?.namespace) throw badRequest('no namespace on request');
      await context.validate();
      const rules = authorizer.rulesFor?.(context.request.user, asked.namespace);
      const status = rules ?? { resourceRules: [], nonResourceRules: [], incomplete: true };
      return { kind: 'SelfSubjectRulesReview', apiVersion: `${group}/v1`, metadata: {}, spec: {}, status } as KubeObject;
    }),
  ];
}

function localErrors(object: LocalSubjectAccessReview): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = object.spec;
  const namespace = resourceAttributes?.namespace ?? '';
  const errors: FieldError[] = [];
  if (resourceAttributes && namespace !== (object.metadata.namespace ?? '')) {
    errors.push(invalid(spec.child('resourceAttributes', 'namespace'), namespace, 'must match metadata.namespace'));
  }
  if (nonResourceAttributes) {
    const value = { Path: nonResourceAttributes.path ?? '', Verb: nonResourceAttributes.verb ?? '' };
    errors.push(invalid(spec.child('nonResourceAttributes'), value, 'disallowed on this kind of request'));
  }
  return errors;
}
