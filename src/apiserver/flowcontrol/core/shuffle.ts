// Shuffle sharding: each flow has a hand of a few queues, so that one that floods fills its own hand and hardly ever all queues of another
// (k8s.io/apiserver/pkg/util/shufflesharding). Pure.

/** 53 bits of a text; the same text has the same bits in every process. */
export function hashOf(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}

/** Deals `handSize` different cards of a deck, as the hash decides. */
export function deal(hash: number, deckSize: number, handSize: number): number[] {
  const hand: number[] = [];
  let rest = hash;
  for (let dealt = 0; dealt < Math.min(handSize, deckSize); dealt++) {
    const left = deckSize - dealt;
    let card = rest % left;
    // Bits run out for large decks: they are mixed again.
    rest = rest >= left ? Math.floor(rest / left) : hashOf(`${hash}/${dealt}`);
    // The card-th of those that are still in the deck.
    for (const taken of [...hand].sort((a, b) => a - b)) if (card >= taken) card++;
    hand.push(card);
  }
  return hand;
}
