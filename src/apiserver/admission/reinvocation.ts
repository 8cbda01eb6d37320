// Mutating plugins run over a request once more when one of those that users configure changed it (k8s.io/apiserver/pkg/admission,
// reinvocation.go): every other plugin again, and of what is configured that which asks for it and ran before the last change.
import type { AdmissionRequest, Reinvocation } from '../registry/generic/admission.ts';

const contextOf = (request: AdmissionRequest): Reinvocation =>
  (request.reinvocation ??= { needed: false, running: false, memory: new Map() });

/** What one plugin remembers between the two rounds over a request. Its parts are named by keys of its own. */
export class Rounds {
  readonly #context: Reinvocation;
  readonly #invoked = new Set<string>();
  readonly #again = new Set<string>();
  #output = '';

  private constructor(context: Reinvocation) {
    this.#context = context;
  }

  /** The rounds of this request, at the start of one. */
  static of(request: AdmissionRequest, plugin: string): Rounds {
    const context = contextOf(request);
    const known = context.memory.get(plugin);
    const rounds = known instanceof Rounds ? known : new Rounds(context);
    context.memory.set(plugin, rounds);
    // Somebody else changed what this plugin left behind.
    if (context.running && rounds.#waits && rounds.#output !== outputOf(request)) rounds.#require();
    return rounds;
  }

  /** Whether a part takes part in this round. */
  includes(key: string): boolean {
    return !this.#context.running || this.#again.has(key);
  }

  /** The object was changed: who ran before runs again. */
  changed(): void {
    this.#require();
    this.#context.needed = true;
  }

  /** A part that asks to run again after changes of others has run. */
  invoked(key: string): void {
    this.#invoked.add(key);
  }

  /** Notes the object as it is at the end of a round, where a part would run again if others changed it. */
  finish(request: AdmissionRequest): void {
    if (this.#waits) this.#output = outputOf(request);
  }

  get #waits(): boolean {
    return this.#invoked.size > 0;
  }

  #require(): void {
    for (const key of this.#invoked) this.#again.add(key);
    this.#invoked.clear();
  }
}

const outputOf = ({ object }: AdmissionRequest): string => JSON.stringify(object) ?? '';
