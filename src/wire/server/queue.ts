// What arrives together is begun a few in each turn of the event loop, those who sent it by turns: who sends a thousand requests at once, or opens a
// thousand connections, waits for himself. What its sender has given up by then is never begun, which takes the profit out of HTTP/2's rapid reset (CVE-2023-44487).

export interface Waiting {
  /** Nobody waits for it any more. */
  gone(): boolean;
  begin(): void;
}

/** `Sender`: whose turns they are; compared as a key of a Map. */
export interface Queue<Sender> {
  add(sender: Sender, work: Waiting): void;
}

export function turnQueue<Sender>(perTurn: number): Queue<Sender> {
  /** The sender whose turn it is comes first. */
  const waiting = new Map<Sender, Waiting[]>();
  let begun = 0;
  let scheduled = false;
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(nextTurn);
  };
  function nextTurn(): void {
    scheduled = false;
    begun = 0;
    for (const [sender, works] of waiting) {
      if (begun >= perTurn) break;
      waiting.delete(sender);
      const work = works.shift();
      // To the end, behind all others.
      if (works.length > 0) waiting.set(sender, works);
      if (work === undefined || work.gone()) continue;
      begun++;
      work.begin();
    }
    // Also to count anew: what was begun here is no reason to hold back what comes in a later turn.
    if (waiting.size > 0 || begun > 0) schedule();
  }
  return {
    add(sender, work) {
      schedule();
      const own = waiting.get(sender);
      if (own) own.push(work);
      else if (waiting.size === 0 && begun < perTurn) {
        begun++;
        work.begin();
      } else waiting.set(sender, [work]);
    },
  };
}
