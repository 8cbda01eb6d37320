// Labels, which are unique in an account, and tags.
import { invalid } from './refusals.ts';

export function checkLabel(label: string, others: readonly { label: string }[]): void {
  if (!/^[a-zA-Z0-9._-]{3,32}$/.test(label)) throw invalid('label', 'Must be between 3 and 32 characters');
  if (others.some((one) => one.label === label)) throw invalid('label', 'Label must be unique');
}

export function checkTags(tags: unknown): string[] {
  const list = (tags ?? []) as unknown[];
  for (const tag of list)
    if (typeof tag !== 'string' || tag.length < 3 || tag.length > 50)
      throw invalid('tags', 'Tags must be between 3 and 50 characters');
  return [...new Set(list as string[])];
}
