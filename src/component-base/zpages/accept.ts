// The Accept header as k8s.io/apiserver reads it (goautoneg): clauses, the best first.

export interface AcceptClause {
  type: string;
  quality: number;
  parameters: Map<string, string>;
}

export function parseAccept(header: string): AcceptClause[] {
  const clauses = header.split(',').flatMap((text): AcceptClause[] => {
    const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
    if (type === '') return [];
    const pairs = parameters.map((parameter) => {
      const at = parameter.indexOf('=');
      return at < 0 ? ([parameter, ''] as const) : ([parameter.slice(0, at), parameter.slice(at + 1)] as const);
    });
    const map = new Map(pairs);
    return [{ type, quality: map.has('q') ? Number(map.get('q')) || 0 : 1, parameters: map }];
  });
  return clauses
    .map((clause, at) => ({ clause, at }))
    .sort((a, b) => b.clause.quality - a.clause.quality || a.at - b.at)
    .map(({ clause }) => clause);
}
