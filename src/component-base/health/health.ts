// Health endpoints with upstream's text (k8s.io/apiserver/pkg/server/healthz): /healthz, /livez, /readyz and one path per check.

export interface HealthCheck {
  name: string;
  /** Throws, or rejects, with why it is unhealthy. The reason is logged, never shown to the client. */
  check(): void | Promise<void>;
  /** The check is shown with the others, but does not make the endpoint fail. */
  informative?: boolean;
}

export interface HealthAnswer {
  /** HTTP status: 200, 404 for an unknown single check, 500. */
  status: number;
  /** text/plain; charset=utf-8. */
  body: string;
  /** Failed checks by name, with the reason for the log. */
  failures: { name: string; reason: string }[];
}

export type HealthEndpoint = 'healthz' | 'livez' | 'readyz';

/** The check that never fails: that it answers shows that the server does. */
export const pingCheck: HealthCheck = { name: 'ping', check() {} };

/** Fails once standard error, where log lines go, cannot be written to. Lines are written as they are made, so none wait for a flush. */
export const logCheck: HealthCheck = {
  name: 'log',
  check() {
    if (process.stderr.errored) throw process.stderr.errored;
  },
};

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const quoteAll = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(',');

async function runChecks(
  checks: readonly HealthCheck[],
  exclude: ReadonlySet<string>,
): Promise<{ lines: string; failures: HealthAnswer['failures'] }> {
  const failures: HealthAnswer['failures'] = [];
  const lines = await Promise.all(
    checks.map(async ({ name, check, informative }) => {
      if (exclude.has(name)) return `[+]${name} excluded: ok\n`;
      try {
        await check();
        return `[+]${name} ok\n`;
      } catch (error) {
        if (!informative) failures.push({ name, reason: reasonOf(error) });
        return `[-]${name} failed: reason withheld\n`;
      }
    }),
  );
  return { lines: lines.join(''), failures };
}

/** Answers a request for `/healthz?verbose&exclude=a&exclude=b`. */
export async function answerHealth(
  endpoint: HealthEndpoint,
  checks: readonly HealthCheck[],
  query: URLSearchParams,
): Promise<HealthAnswer> {
  const exclude = new Set(query.getAll('exclude').flatMap((value) => value.split(',')));
  const { lines, failures } = await runChecks(checks, exclude);
  const unknown = [...exclude].filter((name) => name !== '' && !checks.some((check) => check.name === name)).sort();
  const output =
    unknown.length === 0 ? lines : `${lines}warn: some health checks cannot be excluded: no matches for ${quoteAll(unknown)}\n`;
  if (failures.length > 0) return { status: 500, body: `${output}${endpoint} check failed\n`, failures };
  return { status: 200, body: query.has('verbose') ? `${output}${endpoint} check passed\n` : 'ok', failures };
}

/** Answers a request for one check, `/healthz/<name>`. */
export async function answerHealthCheck(checks: readonly HealthCheck[], name: string): Promise<HealthAnswer> {
  const check = checks.find((candidate) => candidate.name === name);
  if (check === undefined) return { status: 404, body: '404 page not found\n', failures: [] };
  const { failures } = await runChecks([{ ...check, informative: false }], new Set());
  const [failure] = failures;
  if (failure === undefined) return { status: 200, body: 'ok', failures };
  return { status: 500, body: `internal server error: ${failure.reason}\n`, failures };
}

/**
 * Routes a path under `/healthz`, `/livez` or `/readyz` (as upstream installs them); undefined for every other path.
 * `target` is the raw path with its query.
 */
export function routeHealth(
  target: string,
  checks: Partial<Record<HealthEndpoint, readonly HealthCheck[]>>,
): Promise<HealthAnswer> | undefined {
  const match = /^\/(healthz|livez|readyz)(?:\/([^?]*))?(?:\?(.*))?$/.exec(target);
  const endpoint = match?.[1] as HealthEndpoint | undefined;
  const list = endpoint && checks[endpoint];
  if (!endpoint || !list) return undefined;
  const name = match?.[2];
  // A slash at the end asks for a check without a name, which no list has.
  if (name !== undefined) return answerHealthCheck(list, name);
  return answerHealth(endpoint, list, new URLSearchParams(match?.[3] ?? ''));
}
