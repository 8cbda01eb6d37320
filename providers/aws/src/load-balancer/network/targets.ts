// The instances in a target group.
import { during } from 'sagong/cloud-provider/kit';
import {
  DeregisterTargetsCommand,
  DescribeTargetHealthCommand,
  RegisterTargetsCommand,
  type TargetDescription,
  type TargetHealthDescription,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import type { Cloud } from '../../cloud.ts';
import { isUnknownBackend } from '../../errors.ts';
import { targetsMax } from '../../limits.ts';

const key = ({ Id, Port }: TargetDescription): string => `${Id}:${Port}`;

/** Which targets to register and which to take out; those that are being taken out already count as gone. Pure. */
export function targetChange(wanted: readonly TargetDescription[], health: readonly TargetHealthDescription[] = []) {
  const actual = health.flatMap(({ Target, TargetHealth }) =>
    Target && TargetHealth?.Reason !== 'Target.DeregistrationInProgress' ? [Target] : [],
  );
  const [wantedKeys, actualKeys] = [new Set(wanted.map(key)), new Set(actual.map(key))];
  return {
    add: wanted.filter((target) => !actualKeys.has(key(target))),
    remove: actual.filter((target) => !wantedKeys.has(key(target))).map(({ Id, Port }) => ({ Id, Port })),
  };
}

const chunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));

/** Old ones leave first: an exchange of all nodes must fit in the limit of targets. */
export async function syncTargets(
  { api, backends }: Cloud,
  TargetGroupArn: string,
  { instanceIds, port, isNew }: { instanceIds: readonly string[]; port: number; isNew: boolean },
): Promise<void> {
  const health = isNew
    ? undefined
    : await api.elbv2(new DescribeTargetHealthCommand({ TargetGroupArn })).catch(during('error describing target group health'));
  const wanted = instanceIds.map((Id) => ({ Id, Port: port }));
  const { add, remove } = targetChange(wanted, health?.TargetHealthDescriptions);
  for (const Targets of chunks(remove, targetsMax))
    await api
      .elbv2(new DeregisterTargetsCommand({ TargetGroupArn, Targets }))
      .catch(during('error trying to deregister targets in target group'));
  for (const Targets of chunks(add, targetsMax))
    await api
      .elbv2(new RegisterTargetsCommand({ TargetGroupArn, Targets }))
      .catch((error: unknown) => {
        if (isUnknownBackend(error)) backends.forget();
        throw error;
      })
      .catch(during('error trying to register targets in target group'));
}
