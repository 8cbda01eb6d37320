// RBAC rules made ready for matching (pkg/apis/rbac/v1 evaluation helpers). A compiled rule answers with set look-ups only.
import type { PolicyRule } from '#api/rbac/v1';
import { withoutTrailing } from '#utils';
import type { Attributes } from '../request/request.ts';

/** A set of strings where `*` means all. */
class Words {
  readonly all: boolean;
  readonly words: ReadonlySet<string>;
  constructor(words: readonly string[] | null | undefined) {
    this.words = new Set(words);
    this.all = this.words.has('*');
  }
  has(word: string): boolean {
    return this.all || this.words.has(word);
  }
}

export class CompiledRule {
  readonly source: PolicyRule;
  readonly #verbs: Words;
  readonly #groups: Words;
  readonly #resources: Words;
  readonly #names: ReadonlySet<string> | undefined;
  readonly #paths: Words;
  /** Without their `*`. */
  readonly #pathPrefixes: readonly string[];

  constructor(rule: PolicyRule) {
    this.source = rule;
    this.#verbs = new Words(rule.verbs);
    this.#groups = new Words(rule.apiGroups);
    this.#resources = new Words(rule.resources);
    this.#names = rule.resourceNames?.length ? new Set(rule.resourceNames) : undefined;
    this.#paths = new Words(rule.nonResourceURLs);
    this.#pathPrefixes = (rule.nonResourceURLs ?? [])
      .filter((path) => path.endsWith('*'))
      .map((path) => withoutTrailing(path, '*'));
  }

  /** `combined` is resource/subresource. */
  #matchesResource(combined: string, subresource: string): boolean {
    return this.#resources.has(combined) || (subresource !== '' && this.#resources.words.has(`*/${subresource}`));
  }

  #matchesPath(path: string): boolean {
    return this.#paths.has(path) || this.#pathPrefixes.some((prefix) => path.startsWith(prefix));
  }

  allows(attributes: Attributes, combined: string): boolean {
    if (!this.#verbs.has(attributes.verb)) return false;
    const { target } = attributes;
    if (!target) return this.#matchesPath(attributes.path ?? '');
    return (
      this.#groups.has(target.group) &&
      this.#matchesResource(combined, target.subresource) &&
      (this.#names === undefined || this.#names.has(target.name))
    );
  }
}

const compiled = new WeakMap<readonly PolicyRule[], readonly CompiledRule[]>();
const none: readonly CompiledRule[] = [];

/** Compiles the rules of a role; each list, which is frozen, is compiled once. */
export function compileRules(rules: readonly PolicyRule[] | undefined): readonly CompiledRule[] {
  if (!rules) return none;
  const known = compiled.get(rules);
  if (known) return known;
  const fresh = rules.map((rule) => new CompiledRule(rule));
  compiled.set(rules, fresh);
  return fresh;
}
