// Lifecycle handlers that really run: a command in the container, a request to it, or a pause.
import type { Container, LifecycleHandler, Pod } from '#api/core/v1';
import { formatPod } from '#component-helpers/pod';
import { type Clock, quote } from '#utils';
import { recordIPs } from '../container/types.ts';
import { httpGet, httpTarget } from '../probes/http.ts';
import type { PodRuntime } from '../container/runtime.ts';
import { identity } from '../container/identity.ts';
import { HookTimeout, type LifecycleHooks } from './hooks.ts';

const httpTimeoutMs = 30_000;

export interface HookDeps {
  runtime: PodRuntime;
  clock: Clock;
  hostIP(): string;
}

export function createHooks({ runtime, clock, hostIP }: HookDeps): LifecycleHooks {
  const handle = async (
    pod: Pod,
    container: Container,
    id: string,
    handler: LifecycleHandler,
    timeoutMs: number,
  ): Promise<void> => {
    const where = `for Container ${quote(container.name)} in Pod ${quote(formatPod(pod))} failed`;
    if (handler.exec) {
      const { command = [] } = handler.exec;
      const { exitCode, stdout, stderr } = await runtime.exec(id, command, timeoutMs);
      if (exitCode === 0) return;
      const output = quote(Buffer.concat([stdout, stderr]).toString('utf8'));
      const why = `command '${command.join(' ')}' exited with ${exitCode}: ${Buffer.from(stderr).toString('utf8')}`;
      throw new Error(`Exec lifecycle hook ([${command.join(' ')}]) ${where} - error: ${why}, message: ${output}`);
    }
    if (handler.httpGet) {
      const podIP = recordIPs(await runtime.get(identity(pod)))[0] ?? hostIP();
      try {
        await httpGet(
          httpTarget(handler.httpGet, container, podIP, 'kube-lifecycle'),
          Math.min(timeoutMs || httpTimeoutMs, httpTimeoutMs),
        );
      } catch (error) {
        throw new Error(`HTTP lifecycle hook (${handler.httpGet.path ?? ''}) ${where} - error: ${(error as Error).message}`, {
          cause: error,
        });
      }
      return;
    }
    if (handler.sleep) return clock.sleep(handler.sleep.seconds * 1000);
    throw new Error('Cannot run handler: invalid handler');
  };
  return {
    async run(pod, container, id, handler, timeoutMs = 0) {
      if (timeoutMs <= 0) return handle(pod, container, id, handler, 0);
      const over = new AbortController();
      const limit = clock.sleep(timeoutMs, over.signal).then(() => {
        throw new HookTimeout();
      });
      limit.catch(() => {});
      try {
        await Promise.race([handle(pod, container, id, handler, timeoutMs), limit]);
      } finally {
        over.abort(new Error('hook ended'));
      }
    },
  };
}
