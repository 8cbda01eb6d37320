// A binary heap that can also drop an item from its middle.

export class Heap<T extends object> {
  readonly #items: T[] = [];
  readonly #places = new Map<T, number>();
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }
  get size(): number {
    return this.#items.length;
  }
  peek(): T | undefined {
    return this.#items[0];
  }
  items(): readonly T[] {
    return this.#items;
  }
  push(item: T): void {
    this.#set(this.#items.length, item);
    this.#up(this.#items.length - 1);
  }
  pop(): T | undefined {
    const [first] = this.#items;
    if (first !== undefined) this.delete(first);
    return first;
  }
  delete(item: T): boolean {
    const place = this.#places.get(item);
    if (place === undefined) return false;
    this.#places.delete(item);
    const last = this.#items.pop() as T;
    if (last !== item) {
      this.#set(place, last);
      this.#up(place);
      this.#down(this.#places.get(last) as number);
    }
    return true;
  }
  #set(place: number, item: T): void {
    this.#items[place] = item;
    this.#places.set(item, place);
  }
  #swap(a: number, b: number): void {
    const item = this.#items[a] as T;
    this.#set(a, this.#items[b] as T);
    this.#set(b, item);
  }
  #before(a: number, b: number): boolean {
    return this.#compare(this.#items[a] as T, this.#items[b] as T) < 0;
  }
  #up(start: number): void {
    let place = start;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#before(place, parent)) return;
      this.#swap(place, parent);
      place = parent;
    }
  }
  #down(start: number): void {
    let place = start;
    for (;;) {
      const left = 2 * place + 1;
      if (left >= this.#items.length) return;
      const right = left + 1;
      const child = right < this.#items.length && this.#before(right, left) ? right : left;
      if (!this.#before(child, place)) return;
      this.#swap(place, child);
      place = child;
    }
  }
}
