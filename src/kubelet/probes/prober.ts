// One probe of one container (upstream pkg/kubelet/prober/prober.go).
import type { Container, Pod, Probe } from '#api/core/v1';
import { probeOutputBytesMax } from '../limits.ts';
import type { PodRuntime } from '../container/runtime.ts';
import type { Clock } from '#utils';
import { httpGet, httpTarget } from './http.ts';
import { probePort } from './ports.ts';
import { tcpConnect } from './tcp.ts';

/** What a probe found. With `error` nothing was learned, and the result is thrown away. */
export type ProbeOutcome = { result: 'success' | 'warning' | 'failure' | 'error'; output: string };

export interface ProbeTarget {
  pod: Pod;
  container: Container;
  containerId: string;
  podIP: string;
}

export type Prober = (probe: Probe, target: ProbeTarget) => Promise<ProbeOutcome>;

const success: ProbeOutcome = { result: 'success', output: '' };
const failure = (output: string): ProbeOutcome => ({ result: 'failure', output });

async function attempt(work: Promise<unknown>): Promise<ProbeOutcome> {
  try {
    await work;
    return success;
  } catch (error) {
    return failure((error as Error).message);
  }
}

async function execProbe(runtime: PodRuntime, id: string, command: readonly string[], timeoutMs: number): Promise<ProbeOutcome> {
  try {
    const { exitCode, stdout, stderr } = await runtime.exec(id, command, timeoutMs);
    const output = Buffer.concat([stdout, stderr]).subarray(0, probeOutputBytesMax).toString('utf8');
    return exitCode === 0 ? success : failure(output);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code === 'DEADLINE_EXCEEDED') return failure(`command timed out: ${message}`);
    return { result: 'error', output: message };
  }
}

async function httpProbe(probe: Probe, { container, podIP }: ProbeTarget, timeoutMs: number): Promise<ProbeOutcome> {
  try {
    const { status, body } = await httpGet(httpTarget(probe.httpGet ?? { port: 0 }, container, podIP, 'kube-probe'), timeoutMs);
    if (status >= 200 && status < 300) return success;
    if (status >= 300 && status < 400) return { result: 'warning', output: `Probe terminated redirects, Response body: ${body}` };
    return failure(`HTTP probe failed with statuscode: ${status}`);
  } catch (error) {
    return failure((error as Error).message);
  }
}

/** A prober over the real network and runtime. */
export const createProber =
  (runtime: PodRuntime, clock: Clock): Prober =>
  async (probe, target) => {
    const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
    const { container, containerId, podIP } = target;
    try {
      if (probe.exec) return await execProbe(runtime, containerId, probe.exec.command ?? [], timeoutMs);
      if (probe.httpGet) return await httpProbe(probe, target, timeoutMs);
      if (probe.tcpSocket) {
        const { port, host } = probe.tcpSocket;
        return await attempt(tcpConnect(host || podIP, probePort(port, container), timeoutMs));
      }
      if (probe.grpc) {
        // Loaded when it is first needed: the check imports the gRPC runtime, which few pods use.
        const { grpcCheck } = await import('./grpc.ts');
        const limit = { timeoutMs, deadlineMs: clock.now() + timeoutMs };
        return await attempt(grpcCheck(podIP, probe.grpc.port, probe.grpc.service ?? '', limit));
      }
      return { result: 'error', output: `missing probe handler for ${container.name}` };
    } catch (error) {
      return { result: 'error', output: (error as Error).message };
    }
  };
