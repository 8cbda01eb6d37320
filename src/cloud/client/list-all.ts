// All pages of a list as one array.

interface Page<Item> {
  items: Item[];
  nextToken?: string | undefined;
}

/** Calls `list` until the last page; `await listAll((page) => cloud.listInstances({ vpcId, ...page }))`. */
export async function listAll<Item>(list: (page: { limit: number; nextToken?: string }) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  let nextToken: string | undefined;
  do {
    const page = await list({ limit: 1000, ...(nextToken !== undefined && { nextToken }) });
    items.push(...page.items);
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return items;
}
