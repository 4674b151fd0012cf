/**
 * Calls of this process that need one row alone, one after another: who waits here holds no connection. Between processes the
 * row's lock decides, as ever.
 *
 * Holds: in the order they came. Who waits longer than `waitMs` goes away with nothing done.
 */
export class Turnstile {
  /** Who waits behind the one that is through, by name. */
  private readonly lines = new Map<string, (() => void)[]>();

  constructor(private readonly waitMs: number) {}

  /** Throws `busy()` after `waitMs`, else what `work` throws. */
  async pass<T>(name: string, busy: () => Error, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(name);
    if (line) await this.wait(line, busy);
    else this.lines.set(name, []);
    try {
      return await work();
    } finally {
      const next = this.lines.get(name)?.shift();
      if (next) next();
      else this.lines.delete(name);
    }
  }

  private wait(line: (() => void)[], busy: () => Error): Promise<void> {
    return new Promise((resolve, reject) => {
      const admit = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        line.splice(line.indexOf(admit), 1);
        reject(busy());
      }, this.waitMs);
      line.push(admit);
    });
  }
}
