// How upstream's internal type of a flow schema prints in messages: every field, by its Go name.
import type * as flowcontrol from '#api/flowcontrol/v1';

const named = (subject: { name: string } | undefined) => (subject ? { Name: subject.name } : null);

const ruleForm = ({ subjects, resourceRules, nonResourceRules }: flowcontrol.PolicyRulesWithSubjects) => ({
  Subjects: (subjects ?? []).map(({ kind, user, group, serviceAccount }) => ({
    Kind: kind,
    User: named(user),
    Group: named(group),
    ServiceAccount: serviceAccount ? { Namespace: serviceAccount.namespace, Name: serviceAccount.name } : null,
  })),
  ResourceRules:
    resourceRules?.map(({ verbs, apiGroups, resources, clusterScope, namespaces }) => ({
      Verbs: verbs,
      APIGroups: apiGroups,
      Resources: resources,
      ClusterScope: clusterScope ?? false,
      Namespaces: namespaces ?? null,
    })) ?? null,
  NonResourceRules:
    nonResourceRules?.map(({ verbs, nonResourceURLs }) => ({ Verbs: verbs, NonResourceURLs: nonResourceURLs })) ?? null,
});

export const internalForm = (spec: flowcontrol.FlowSchemaSpec) => ({
  PriorityLevelConfiguration: { Name: spec.priorityLevelConfiguration?.name ?? '' },
  MatchingPrecedence: spec.matchingPrecedence ?? 0,
  DistinguisherMethod: spec.distinguisherMethod ? { Type: spec.distinguisherMethod.type } : null,
  Rules: spec.rules?.map(ruleForm) ?? null,
});
