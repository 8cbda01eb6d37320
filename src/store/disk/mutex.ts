// Lets asynchronous tasks run one after the other, in the order they came.

export type Exclusive = <T>(task: () => Promise<T>) => Promise<T>;

export function createMutex(): Exclusive {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const mine = last.then(task, task);
    last = mine.catch(() => {});
    return mine;
  };
}
