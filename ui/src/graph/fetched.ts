// What is fetched for a window and a margin around it, and kept until the window leaves it: messages, wake-ups.
// Talks to: none itself; is told how to ask. Used by: arrows.
import type { Clock } from "../api";
import type { Range } from "../view";

const REST_MS = 60, RETRY_MS = 2000;
/** What is fetched around the window, as a share of it. */
const MARGIN = 0.5;

export class Fetched<T> {
  /** What there is, of which range and clock; thinned if there was more than asked for. */
  value: T | null = null;
  clock: Clock = "common";
  private range: Range | null = null;
  private isThinned = false;
  private timer = 0;
  private stop: AbortController | null = null;
  private asking: string | null = null;
  private isBusy = false;
  private topic = "";
  constructor(
    private readonly ask: (range: Range, clock: Clock, signal: AbortSignal) => Promise<{ value: T; isThinned: boolean }>,
    private readonly arrived: () => void,
  ) {}

  /** No request is pending or scheduled. */
  get isIdle(): boolean { return !this.isBusy; }
  /** Forgets what is there: another topic is wanted. */
  setTopic(topic: string): void {
    if (topic === this.topic) return;
    this.topic = topic;
    this.value = null;
    this.range = null;
    this.asking = null;
    this.isBusy = false;
    clearTimeout(this.timer);
    this.stop?.abort();
  }
  /** What is there is of rows and times that are others now. */
  renew(): void {
    this.topic = "";
    this.setTopic("renewed");
  }
  want(window: Range, clock: Clock): void {
    const span = window.end - window.begin, range = this.range;
    const isInside = range !== null && clock === this.clock && range.begin <= window.begin && range.end >= window.end;
    // What was thinned for a much wider window lacks what this one would show.
    if (isInside && !(this.isThinned && range.end - range.begin > span * (1 + 2 * MARGIN) * 1.5)) return;
    const key = `${clock} ${window.begin} ${window.end}`;
    if (key === this.asking) return;
    this.asking = key;
    this.isBusy = true;
    clearTimeout(this.timer);
    this.timer = globalThis.setTimeout(() => void this.fetch({ begin: window.begin - span * MARGIN, end: window.end + span * MARGIN }, clock), REST_MS) as unknown as number;
  }
  private async fetch(range: Range, clock: Clock): Promise<void> {
    this.stop?.abort();
    const stop = this.stop = new AbortController();
    try {
      const { value, isThinned } = await this.ask(range, clock, stop.signal);
      if (stop.signal.aborted) return;
      this.value = value;
      this.isThinned = isThinned;
      this.range = range;
      this.clock = clock;
      this.isBusy = false;
    } catch {
      // The states' requests tell the reader what is wrong; this one is tried again.
      if (!stop.signal.aborted) setTimeout(() => { this.asking = null; this.arrived(); }, RETRY_MS);
      return;
    }
    this.arrived();
  }
}
