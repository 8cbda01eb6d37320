// What can be done for a pod that fits nowhere (upstream runtime RunPostFilterPlugins).
import type { Cycle, PostFilterAnswer, PostFilterTools, Profile } from '../framework/index.ts';

export interface PostFiltered extends Omit<PostFilterAnswer, 'status'> {
  readonly message: string;
}

/** Runs the plugins in order until one helps or fails for good. Otherwise the reasons of all of them are given. */
export function postFilter(profile: Profile, cycle: Cycle, tools: PostFilterTools): PostFiltered {
  const reasons: string[] = [];
  let nominate: string | undefined;
  const effects: NonNullable<PostFilterAnswer['effects']>[number][] = [];
  for (const plugin of profile.postFilter) {
    const { status, ...answer } = plugin.postFilter?.(cycle, tools) ?? {};
    if (status === undefined) return { ...answer, message: '' };
    if (status.code === 'Error') return { message: status.reasons.join(', ') };
    if (status.code === 'UnschedulableAndUnresolvable') return { ...answer, message: status.reasons.join(', ') };
    if (answer.nominate !== undefined) nominate = answer.nominate;
    effects.push(...(answer.effects ?? []));
    reasons.push(...status.reasons);
  }
  return { message: reasons.join(', '), ...(nominate !== undefined && { nominate }), ...(effects.length > 0 && { effects }) };
}
