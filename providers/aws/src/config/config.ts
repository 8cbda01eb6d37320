// From the text of `--cloud-config` to typed fields. Field names are compared without case, an empty value counts as not given; what is not known
// is an error (upstream passes over it in silence, and a misspelt field then has no effect).
import { iniFields, parseIni } from 'sagong/cloud-provider/kit';
import { type AwsConfig, configSchema } from './schema.ts';

const { Global: globalSchema, ServiceOverride: overrides } = configSchema.properties;

/** Throws an error that names the line or the section. The fields themselves are checked against `configSchema` afterwards. */
export function parseConfig(text: string): unknown {
  const config = { Global: {}, ServiceOverride: {} as Record<string, unknown> };
  for (const section of parseIni(text)) {
    const { name, subsection, line } = section;
    switch (name.toLowerCase()) {
      case 'global':
        if (subsection !== undefined) throw new Error(`line ${line}: [Global] takes no name`);
        Object.assign(config.Global, iniFields(section, globalSchema));
        break;
      case 'serviceoverride':
        if (!subsection) throw new Error(`line ${line}: [ServiceOverride "1"] needs a name`);
        config.ServiceOverride[subsection] = {
          ...(config.ServiceOverride[subsection] as object | undefined),
          ...iniFields(section, overrides.additionalProperties),
        };
        break;
      default:
        throw new Error(`line ${line}: section [${name}] is not known; known are [Global] and [ServiceOverride "…"]`);
    }
  }
  return config;
}

/** What no single field shows. Throws with what is wrong. */
export function checkConfig({ Global, ServiceOverride }: AwsConfig): void {
  const seen = new Set<string>();
  for (const [name, { Service, Region }] of Object.entries(ServiceOverride)) {
    const service = `${Service}_${Region}`;
    if (seen.has(service)) throw new Error(`duplicate entry found for service override [${name}] (${Service} in ${Region})`);
    seen.add(service);
  }
  const { SupportedTopologyInstanceTypePattern: pattern, KubernetesClusterTag: old, KubernetesClusterID: id } = Global;
  if (pattern !== undefined)
    try {
      new RegExp(pattern);
    } catch (error) {
      throw new Error(`Global.SupportedTopologyInstanceTypePattern: ${String(error)}`, { cause: error });
    }
  if (old !== undefined && id !== undefined && old !== id) throw new Error(`clusterID tags did not match: "${id}" vs "${old}"`);
  if (Global.SourceARN !== undefined && Global.RoleARN === undefined)
    throw new Error('Global.SourceARN has no effect without Global.RoleARN');
}

/** The region of a zone, local zones included (`us-west-2-lax-1a` is in `us-west-2`). Throws for what is no zone. */
export function regionOfZone(zone: string): string {
  const region = /^([a-zA-Z]+-)+\d+/.exec(zone)?.[0];
  if (region === undefined) throw new Error(zone === '' ? 'invalid (empty) AZ' : `invalid AZ: ${zone}`);
  return region;
}
