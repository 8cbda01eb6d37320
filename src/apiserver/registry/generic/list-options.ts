// metav1.ListOptions and GetOptions, checked as upstream checks them
// (k8s.io/apimachinery/pkg/apis/meta/internalversion/validation).
import { badRequest, invalidObject, plainError } from '#apimachinery/errors';
import { type FieldError, errorText, forbidden, invalid, notSupported, root } from '#apimachinery/field';
import { type FieldSelector, everything, oneTermEqual, parse as parseFields } from '#apimachinery/fields';
import { type Selector, everything as anyLabels, parse as parseLabels } from '#apimachinery/labels';
import type { StoredObject } from '../../storage/stored-object.ts';
import type { RequestOptions } from '../../request/request.ts';
import { own } from '#utils';
import { apiVersionText, type ServedResource } from './types.ts';
import { whyNoVersion } from './version-text.ts';

export interface ListOptions {
  labelSelector: Selector;
  fieldSelector: FieldSelector;
  watch: boolean;
  allowWatchBookmarks: boolean;
  /** '' when not given. */
  resourceVersion: string;
  resourceVersionMatch: string;
  timeoutSeconds: number | undefined;
  limit: number;
  continueToken: string;
  sendInitialEvents: boolean | undefined;
}

const refuseProblem = (problem: string | undefined): void => {
  if (problem !== undefined) throw badRequest(problem);
};

/** What a list or watch asks for. Throws a StatusError (400 or 422) for options that make no sense. */
export function listOptions(resource: ServedResource, given: RequestOptions): ListOptions {
  refuseProblem(given.problems?.['timeoutSeconds'] ?? given.problems?.['limit']);
  const labelSelector = given.labelSelector === undefined ? anyLabels : parseLabels(given.labelSelector);
  const fieldSelector = given.fieldSelector === undefined ? everything : parseFields(given.fieldSelector);
  const options: ListOptions = {
    labelSelector,
    fieldSelector,
    watch: given.watch ?? false,
    allowWatchBookmarks: given.allowWatchBookmarks ?? false,
    resourceVersion: given.resourceVersion ?? '',
    resourceVersionMatch: given.resourceVersionMatch ?? '',
    timeoutSeconds: given.timeoutSeconds,
    limit: given.limit ?? 0,
    continueToken: given.continue ?? '',
    sendInitialEvents: given.sendInitialEvents,
  };
  const errors = options.watch ? watchProblems(options) : listProblems(options);
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
  options.fieldSelector = knownFields(resource, options.fieldSelector);
  return options;
}

function listProblems(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  const { resourceVersionMatch: match, resourceVersion, continueToken, sendInitialEvents } = options;
  const path = root('resourceVersionMatch');
  if (match !== '') {
    if (resourceVersion === '')
      errors.push(forbidden(path, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (continueToken !== '') errors.push(forbidden(path, 'resourceVersionMatch is forbidden when continue is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan') errors.push(notSupported(path, match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && resourceVersion === '0') {
      errors.push(forbidden(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (sendInitialEvents !== undefined)
    errors.push(forbidden(root('sendInitialEvents'), 'sendInitialEvents is forbidden for list'));
  return errors;
}

function watchProblems(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  const { resourceVersionMatch: match, sendInitialEvents, continueToken, resourceVersion } = options;
  const path = root('resourceVersionMatch');
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(forbidden(path, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match !== '') {
    if (sendInitialEvents === undefined)
      errors.push(forbidden(path, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    if (match !== 'NotOlderThan') errors.push(notSupported(path, match, ['NotOlderThan']));
  }
  // A watch from the present asks for the initial events, and so for a match, without saying so.
  const isFromPresent = sendInitialEvents === undefined && (resourceVersion === '' || resourceVersion === '0');
  if (continueToken !== '' && (match !== '' || isFromPresent))
    errors.push(forbidden(path, 'resourceVersionMatch is forbidden when continue is provided'));
  return errors;
}

/** Refuses fields that this kind cannot be selected by. */
function knownFields(resource: ServedResource, selector: FieldSelector): FieldSelector {
  if (selector.empty || selector.nothing) return selector;
  return selector.transform((term) => {
    if (term.field === 'metadata.name' || (term.field === 'metadata.namespace' && hasNamespaceField(resource))) return term;
    const labels = fieldLabelsOf(resource);
    const known = own(resource.definition.elderFieldLabels ?? {}, term.field) ?? term.field;
    const field = labels ? own(labels, known) : known;
    if (field !== undefined && selectableNames(resource).has(field)) return { ...term, field };
    throw badRequest(unknownFieldText(resource, term.field));
  });
}

/** Kinds without namespaces that say themselves what they are selected by do not name the namespace. */
const hasNamespaceField = ({ namespaced, custom, definition }: ServedResource): boolean =>
  namespaced || !(custom || definition.selectableFields);

/** Names of fields in a version that calls them differently from the storage version. */
const fieldLabelsOf = ({
  group,
  version,
  storageGroup,
  definition,
}: ServedResource): Readonly<Record<string, string>> | undefined =>
  definition.conversions?.[group === storageGroup ? version : apiVersionText({ group, version })]?.fieldLabels;

const unknownFieldText = (resource: ServedResource, field: string): string =>
  resource.definition.unknownFieldText
    ? resource.definition.unknownFieldText(field)
    : resource.custom || resource.definition.selectableFields
      ? `field label not supported: ${field}`
      : `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;

const namesByResource = new WeakMap<object, ReadonlySet<string>>();

/** The extra fields of a kind: those its rule gives for an empty object. */
function selectableNames({ definition }: ServedResource): ReadonlySet<string> {
  let names = namesByResource.get(definition);
  if (!names) {
    names = new Set(Object.keys(definition.selectableFields?.({ metadata: {}, spec: {}, status: {} } as never) ?? {}));
    namesByResource.set(definition, names);
  }
  return names;
}

/** Whether one stored object passes both selectors; undefined when everything does. */
export function matcherOf(resource: ServedResource, options: ListOptions): ((stored: StoredObject) => boolean) | undefined {
  const { labelSelector, fieldSelector } = options;
  if (labelSelector.empty && fieldSelector.empty) return undefined;
  const extra = fieldSelector.requirements.some(({ field }) => !field.startsWith('metadata.'));
  return (stored) => {
    if (!labelSelector.empty && !labelSelector.matches(stored.object.metadata.labels ?? {})) return false;
    if (fieldSelector.empty) return true;
    const fields = { 'metadata.name': stored.name, 'metadata.namespace': stored.namespace };
    return fieldSelector.matches(extra ? { ...fields, ...resource.definition.selectableFields?.(stored.object) } : fields);
  };
}

/** Narrows the options of a request that names one object. */
export function forName(options: ListOptions, name: string): void {
  if (options.fieldSelector.empty) options.fieldSelector = oneTermEqual('metadata.name', name);
  else if (options.fieldSelector.exactMatch('metadata.name') !== name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
}

const versionProblem = (text: string, why: string): string => errorText(invalid(root('resourceVersion'), text, why));

/** A resource version as a number, '' as 0. Nonsense is refused in upstream's words, which differ. */
export function parseResourceVersion(text: string, use: 'list' | 'other'): number {
  if (text === '') return 0;
  const why = whyNoVersion(text);
  if (why === undefined) return Number(text);
  const problem = versionProblem(text, why);
  throw use === 'list' ? badRequest(`invalid resource version: ${problem}`) : plainError(problem);
}
