/**
 * Hints between the processes of one PostgreSQL database: "there is work", by NOTIFY on a connection of their own.
 *
 * Why its own connection: a NOTIFY within a step's transaction would let all commits wait for each other (17,900 → 5,500
 * transactions a second); here only hints wait for hints, and without their own flush to disk.
 *
 * Holds: a hint may be lost (a broken connection, a pooler that knows no LISTEN): whoever listens also polls. At most one is
 *        sent in `gapMs`, the first at once. A process hears the others' alone. A lost connection is made anew.
 */
import pg from "pg";

export interface Hints {
  /** Tells the others; soon, once, however often it is called. */
  say(): void;
  close(): Promise<void>;
}

const channel = "lockstep_work";
/** Whoever is told looks for work, which costs about a millisecond. */
const gapMs = 30;
const againMinMs = 250;
const againMaxMs = 5_000;

export function openHints(url: string, told: () => void): Hints {
  let client: pg.Client | null = null;
  let closed = false;
  let tries = 0;
  let reconnect: NodeJS.Timeout | undefined;
  let saying: NodeJS.Timeout | undefined;
  let saidAt = -Infinity;

  async function connect(): Promise<void> {
    const next = new pg.Client({
      connectionString: url,
      keepAlive: true,
      application_name: "lockstep hints",
      connectionTimeoutMillis: 5_000,
      options: "-c synchronous_commit=off -c statement_timeout=5000",
    });
    let own = -1;
    const lose = () => {
      if (closed || next !== client) return;
      client = null;
      again();
    };
    next.on("error", lose);
    next.on("end", lose);
    next.on("notification", ({ processId }) => {
      if (processId !== own) told();
    });
    client = next;
    try {
      await next.connect();
      own = (next as unknown as { processID: number }).processID;
      await next.query(`LISTEN ${channel}`);
      // What was said meanwhile was missed.
      if (tries > 0) told();
      tries = 0;
    } catch {
      next.end().catch(() => undefined);
      lose();
    }
  }

  function again(): void {
    const waitMs = Math.min(againMaxMs, againMinMs * 2 ** Math.min(tries, 10));
    tries += 1;
    reconnect = setTimeout(() => void connect(), waitMs);
    reconnect.unref();
  }

  void connect();
  return {
    say() {
      if (saying || closed) return;
      const send = () => {
        saying = undefined;
        saidAt = performance.now();
        client?.query(`NOTIFY ${channel}`).catch(() => undefined);
      };
      const waitMs = gapMs - (performance.now() - saidAt);
      saying = setTimeout(send, Math.max(0, waitMs));
      saying.unref();
    },
    async close() {
      closed = true;
      clearTimeout(reconnect);
      clearTimeout(saying);
      const last = client;
      client = null;
      await last?.end().catch(() => undefined);
    },
  };
}
