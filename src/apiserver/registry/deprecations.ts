// Served kinds that upstream has deprecated: every request on them is answered with this warning (k8s.io/apiserver deprecation warnings).
const warnings: Readonly<Record<string, string | undefined>> = {
  'v1 Endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  'v1 ComponentStatus': 'v1 ComponentStatus is deprecated in v1.19+',
};

/** What clients are told of a deprecated kind; undefined for all others. `apiVersion` is written as 'v1' or 'apps/v1'. */
export const deprecationWarning = (apiVersion: string, kind: string): string | undefined => warnings[`${apiVersion} ${kind}`];
