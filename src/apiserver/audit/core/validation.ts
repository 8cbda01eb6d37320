// What may stand in an audit policy (k8s.io/apiserver/pkg/apis/audit/validation).
import { type FieldError, invalid, notSupported, type Path, required, root } from '#apimachinery/field';
import { isDNS1123Subdomain } from '#apimachinery/validation';
import { type GroupResources, levels, type Policy, type PolicyRule, stages } from './policy.ts';

function levelErrors(level: string, path: Path): FieldError[] {
  if (level === '') return [required(path, '')];
  return (levels as readonly string[]).includes(level) ? [] : [notSupported(path, level, [...levels])];
}

const stageErrors = (omitted: readonly string[] | undefined, path: Path): FieldError[] =>
  (omitted ?? []).flatMap((stage, at) =>
    (stages as readonly string[]).includes(stage)
      ? []
      : [invalid(path.index(at), stage, `allowed stages are ${stages.join(',')}`)],
  );

const urlErrors = (urls: readonly string[], path: Path): FieldError[] =>
  urls.flatMap((url, at) => {
    if (url === '*') return [];
    return [
      ...(url.startsWith('/') ? [] : [invalid(path.index(at), url, "non-resource URL rules must begin with a '/' character")]),
      ...(url.slice(0, -1).includes('*')
        ? [invalid(path.index(at), url, "non-resource URL wildcards '*' must be the final character of the rule")]
        : []),
    ];
  });

// Upstream names no index here.
const resourceErrors = (resources: readonly GroupResources[], path: Path): FieldError[] =>
  resources.flatMap(({ group = '', resources: names = [], resourceNames = [] }) => {
    const problems = group === '' || group === '*' ? [] : isDNS1123Subdomain(group);
    return [
      ...(problems.length > 0 ? [invalid(path.child('group'), group, problems.join(','))] : []),
      ...(resourceNames.length > 0 && names.length === 0
        ? [invalid(path.child('resourceNames'), resourceNames, 'using resourceNames requires at least one resource')]
        : []),
    ];
  });

function ruleErrors(rule: PolicyRule, path: Path): FieldError[] {
  const { nonResourceURLs = [], resources = [], namespaces = [] } = rule;
  const both = nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0);
  return [
    ...levelErrors(rule.level, path.child('level')),
    ...urlErrors(nonResourceURLs, path.child('nonResourceURLs')),
    ...resourceErrors(resources, path.child('resources')),
    ...stageErrors(rule.omitStages, path.child('omitStages')),
    ...(both
      ? [
          invalid(
            path.child('nonResourceURLs'),
            nonResourceURLs,
            'rules cannot apply to both regular resources and non-resource URLs',
          ),
        ]
      : []),
  ];
}

export const policyErrors = ({ rules, omitStages }: Policy): FieldError[] => [
  ...stageErrors(omitStages, root('omitStages')),
  ...rules.flatMap((rule, at) => ruleErrors(rule, root('rules').index(at))),
];
