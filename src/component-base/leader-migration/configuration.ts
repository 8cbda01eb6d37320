// LeaderMigrationConfiguration (controllermanager.config.k8s.io v1, v1beta1, v1alpha1), read strictly. Pure.
import { parseYaml } from '#apimachinery/codec';
import { errorText, type FieldError, invalid, required, root } from '#apimachinery/field';
import { quote } from '#utils';

export interface LeaderMigrationConfiguration {
  /** Name of the lease that the loops in migration run under. */
  leaderName: string;
  /** Only `leases` is there since 1.24. */
  resourceLock: string;
  controllerLeaders: readonly {
    /** The name of a loop. */
    name: string;
    /** The manager that runs it; `*`: whichever holds the lease. */
    component: string;
  }[];
}

/** What is meant without a file: the loops that moved out of kube-controller-manager with the cloud providers. */
export const defaultLeaderMigration: LeaderMigrationConfiguration = {
  leaderName: 'cloud-provider-extraction-migration',
  resourceLock: 'leases',
  controllerLeaders: ['route-controller', 'service-controller', 'cloud-node-lifecycle-controller'].map((name) => ({
    name,
    component: '*',
  })),
};

const group = 'controllermanager.config.k8s.io';
const kind = 'LeaderMigrationConfiguration';
const scheme = '"k8s.io/controller-manager/pkg/leadermigration/config/config.go:38"';
const typeFields = ['apiVersion', 'kind', 'leaderName', 'controllerLeaders'];
/** Fields of each version: v1 has no choice of lock any more. */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  [`${group}/v1`]: typeFields,
  [`${group}/v1beta1`]: [...typeFields, 'resourceLock'],
  [`${group}/v1alpha1`]: [...typeFields, 'resourceLock'],
};
const leaderFields = ['name', 'component'];

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

function unknownFields(value: Fields, known: readonly string[], prefix: string): string[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => `unknown field ${quote(prefix + key)}`);
}

/** A string field; absent is ''. */
function text(value: Fields, field: string, path: string): string {
  const found = value[field];
  if (found === undefined || found === null) return '';
  if (typeof found !== 'string')
    throw new Error(
      `json: cannot unmarshal ${Array.isArray(found) ? 'array' : typeof found} into Go struct field ${path}${field} of type string`,
    );
  return found;
}

function leadersOf(value: unknown): { leaders: LeaderMigrationConfiguration['controllerLeaders']; problems: string[] } {
  if (value === undefined || value === null) return { leaders: [], problems: [] };
  if (!Array.isArray(value) || !value.every(isObject))
    throw new Error(
      `json: cannot unmarshal into Go struct field ${kind}.controllerLeaders of type []ControllerLeaderConfiguration`,
    );
  return {
    leaders: value.map((leader) => ({
      name: text(leader, 'name', 'ControllerLeaderConfiguration.controllerLeaders.'),
      component: text(leader, 'component', 'ControllerLeaderConfiguration.controllerLeaders.'),
    })),
    problems: value.flatMap((leader, index) => unknownFields(leader, leaderFields, `controllerLeaders[${index}].`)),
  };
}

function validate({ leaderName, resourceLock, controllerLeaders }: LeaderMigrationConfiguration): FieldError[] {
  const problems: FieldError[] = [];
  if (leaderName === '') problems.push(required(root('leaderName'), 'leaderName must be set for LeaderMigrationConfiguration'));
  if (resourceLock !== 'leases' && resourceLock !== 'endpoints')
    problems.push(invalid(root('resourceLock'), resourceLock, "resource Lock must be one of 'leases' or 'endpoints'"));
  controllerLeaders.forEach(({ name, component }, index) => {
    const path = root('controllerLeaders').index(index);
    if (component === '') problems.push(required(path.child('component')));
    if (name === '') problems.push(required(path.child('name')));
  });
  return problems;
}

/** Reads a configuration file's text. Throws an Error with upstream's text for anything that does not belong there. */
export function parseLeaderMigration(source: string): LeaderMigrationConfiguration {
  const { value, duplicateKeys } = parseYaml(source);
  const object = isObject(value) ? value : {};
  const [apiVersion, foundKind] = [text(object, 'apiVersion', ''), text(object, 'kind', '')];
  const known = fieldsOf[apiVersion];
  if (foundKind === '') throw new Error(`Object 'Kind' is missing in '${source}'`);
  if (apiVersion === '') throw new Error(`Object 'apiVersion' is missing in '${source}'`);
  if (known === undefined || foundKind !== kind)
    throw new Error(`no kind ${quote(foundKind)} is registered for version ${quote(apiVersion)} in scheme ${scheme}`);
  const { leaders, problems } = leadersOf(object['controllerLeaders']);
  const strict = [...(duplicateKeys ? [duplicateKeys] : []), ...unknownFields(object, known, ''), ...problems];
  if (strict.length > 0) throw new Error(`strict decoding error: ${strict.join(', ')}`);
  const configuration: LeaderMigrationConfiguration = {
    leaderName: text(object, 'leaderName', `${kind}.`),
    resourceLock: known.includes('resourceLock') ? text(object, 'resourceLock', `${kind}.`) : 'leases',
    controllerLeaders: leaders,
  };
  const invalids = validate(configuration);
  if (invalids.length > 0)
    throw new Error(`failed to parse leader migration configuration: [${invalids.map(errorText).join(' ')}]`);
  if (configuration.resourceLock !== 'leases') throw new Error('endpoints lock is removed, migrate to leases');
  return configuration;
}
