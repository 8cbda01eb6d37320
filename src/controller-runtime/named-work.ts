// Work of a loop outside plain writes, declared once with the type of its input: the pure half of the loop asks for it, the shell does it,
// and neither casts.
import {
  type Action,
  type Answer,
  type Asker,
  type Effect,
  type Named,
  type Plan,
  type Question,
  questionKey,
  type ViewContext,
} from './types.ts';

export interface ActionOf<Input> {
  readonly name: string;
  /** The effect that asks for it. */
  on(input: Input): Extract<Effect, { op: 'action' }>;
  /** Declares in `actions` who does it. */
  by(run: (input: Input, signal: AbortSignal) => Promise<Plan | undefined>): Named<Action>;
}

/** An action of a loop: `const empty = action<Namespace>('empty')`. */
export const action = <Input>(name: string): ActionOf<Input> => ({
  name,
  on: (input) => ({ op: 'action', name, input }),
  by: (run) => ({ name, run: run as Action }),
});

/** What came back for a question. */
export type AnswerOf<Output> = { value: Output } | { error: Error };

export interface QuestionOf<Input, Output> {
  readonly name: string;
  /** Makes a question. `about` distinguishes it from others of its name in the same reconcile. */
  about(about: string, input: Input): Question;
  /** The answer in a view; undefined before it was asked. */
  answer(view: Pick<ViewContext, 'answers'>, question: Question): AnswerOf<Output> | undefined;
  /** Declares in `questions` who answers it. */
  by(run: (input: Input, signal: AbortSignal) => Promise<Output>): Named<Asker>;
}

/** A question of a loop: `const listRoutes = question<string, Route[]>('listRoutes')`. */
export const question = <Input, Output>(name: string): QuestionOf<Input, Output> => ({
  name,
  about: (about, input) => ({ name, about, input }),
  answer: ({ answers }, asked) => answers?.get(questionKey(asked)) as (Answer & AnswerOf<Output>) | undefined,
  by: (run) => ({ name, run: run as Asker }),
});
