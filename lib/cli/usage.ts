/**
 * The command's own words, whole and by verb, and its exit codes.
 *
 * Holds: what a verb's help tells is a part of the whole help, word for word; "as above" is told in full where nothing is above.
 */
export const exit = {
  ok: 0,
  /** The chart (or one of the files) is wrong. */
  chart: 1,
  /** The call is wrong: arguments, an input line, an unsupported format. */
  usage: 2,
} as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

/** Wrong use of the command; main prints the message, points to the help, and exits with `exit.usage`. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** The call is right, the disk says no; exits as UsageError does, without a pointer to the help. */
export class UnwritableError extends Error {
  override name = "UnwritableError";
}

export const usage = `lockstep: durable statecharts, from the command line; help VERB or VERB --help tells of one verb

  lockstep check FILE…                 diagnostics of charts; exit 1 when one has errors
      --json                           one JSON line per file
  lockstep convert IN OUT              by extension of OUT: .json (lockstep), .xstate.json, .ts, .scxml, .mmd, .svg, .png
  lockstep render IN OUT.svg|OUT.png   the chart as a drawing
  lockstep run FILE                    run a chart in memory on a virtual clock
      --events FILE|-                  JSON lines: {"type":"pay","data":{…}} or {"advance":"30s"}
      --json                           one JSON line after the start, per input line, and for --drain
      --trace                          with the microsteps
      --drain                          at the end, advance until nothing is pending …
      --until 60s                      … or this much virtual time since the start has passed
      --stubs FILE                     {"src or invoke id": [{"after": "1s", "output": …} …]}
  lockstep paths FILE                  ways through a chart
      --kind shortest|simple|coverage  to every configuration (the default), all of them, or few that take every transition
      --json                           as tests, for NAME.test.json
      --stubs FILE                     how invocations answer; else they succeed, or fail, after 1 s
  lockstep test FILE…                  play the tests in NAME.test.json beside the chart NAME; FILE is either
      --json                           one JSON line per test
  lockstep worker FILE.js              carry out tasks: the module's exported functions, by name, for the tasks of that type
      --url http://127.0.0.1:3000      the server
      --slots 4                        tasks at once
      --id NAME                        how it is listed; else made up
  lockstep instances                   a server's instances, one a line
      --chart ID --status failed       some of them; --state NAME --prefix ID --business-key KEY --parent ID --label K=V
                                       --index FIELD=VALUE: with --chart, of its settings.index
                                       --condition key|lock|task|human|child|breaker: what they wait for
      show ID                          one, as JSON; state ID --seq 12: as it was then, rebuilt
      log ID --limit 20                what has happened, newest first; --seq 12: that entry, whole
      message ID MESSAGE               what became of it
      letters ID, retry ID MESSAGE     its dead letters; one sent again
      start CHART --id ID --input JSON prints the new one's id
            --version 2 --business-key KEY --label K=V --priority 1
      send ID EVENT --data JSON        says what became of it
            --wait-ms 5000
      suspend|resume|cancel|terminate|redrive ID --reason WHY
      reset ID --seq 12 --reason WHY   back to what it was then; its history stays; --rearm-timers
      fork ID --seq 12 --reason WHY    prints the new one's id; --id ID --rearm-timers --later-events
      migrate ID --version 2 --reason WHY --map OLD=NEW --dry-run
      delete ID
      --expected-seq 4                 of a write: refused when the instance has moved on
      --fences '[{"key": …, "session": …, "fence": 7}]'    of a write: refused without these locks
      --idempotency-key KEY            of a write (else a fresh one): with the same it is done once
      --url http://127.0.0.1:3000      the server
      --json                           one JSON line per answer
  lockstep locks                       a server's locks, the most waited for first
      --status held|expired|free|all --search TEXT
      show|log KEY
      acquire KEY… --session NAME      prints its fence, of several KEY FENCE, one a line; exit 1, and none had, when another has one
            --holder NAME --ttl-ms 60000 --wait-ms 5000 --hold-max-ms 600000 --cool-ms 5000
      renew|release KEY --session NAME --fence 7
      force-release KEY --fence 7 --reason WHY
      --url, --json                    as above
  lockstep workers                     a server's workers: load, last seen, partitions, breakers
      drain|undrain ID --reason WHY
      reset ID --breaker NAME --reason WHY
      --url, --json                    as above
  lockstep audit --limit 50            who did what on a server, newest first
      --actor NAME --action terminate-instance --target instance:ID --outcome done --from 2026-11-30 --to 2026-12-01
      --url, --json                    as above
  lockstep retention                   how long a server keeps what is over
      preview RULE --keep 30d          how much would go
      set RULE --keep 30d|for-ever --then purge|archive --reason WHY
      --url, --json                    as above
  lockstep archive list FILE…          ended instances that were archived; show FILE… --id ID: all that is stored of one
  lockstep schedules                   a server's schedules, one a line: id, next time, rule, what it does, last outcome
      --chart ID --status active|paused
      create ID --cron "30 2 * * *" --zone Europe/Berlin --chart ID
                --version 2 --input JSON --business-key KEY --label K=V --priority 1    of the instances it starts
                --send EVENT --to INSTANCE | --to-key KEY --data JSON          instead of --chart: sends an event
                --misfire skip|once|all --misfire-max 10 --paused
      update ID …                      the same options; what is not named stays
      show|pause|resume|run|ticks|delete ID
      --url, --json                    as above
  lockstep batch VERB ID… --reason WHY one verb over many: suspend|resume|cancel|terminate|redrive|retry-dead-letters|migrate|
                                       reset|fork|delete
      --chart, --status, --state, --prefix, --business-key, --parent, --label, --index, --condition | --all   instead of ids: those of the list
                                       checks the call and counts them; --yes does it
      --rate 50 --name TEXT --version 2 --map OLD=NEW --seq 1 --rearm-timers --later-events --wait
  lockstep batch                       the batches, newest first
      show|stop|go-on ID
      items ID --outcome refused       what became of each instance
      --url, --json                    as above

Reads lockstep JSON, XState and Stately JSON, XState machines in TypeScript or JavaScript (never run), SCXML, and Mermaid
stateDiagrams. Exit codes: 0 done, 1 the chart cannot be loaded or has errors, 2 wrong use or a bad input line.
`;

/** Of a block that stands without those before it. */
const serverLines = `      --url http://127.0.0.1:3000      the server
      --json                           one JSON line per answer`;

/** What the help tells of one verb; null: there is no such verb. */
export function usageOf(verb: string): string | null {
  const [commands = ""] = usage.split("\n\nReads ");
  const blocks = commands
    .split(/\n(?= {2}lockstep )/)
    .filter((block) => block.trimStart().split(/\s/).slice(0, 2).join(" ") === `lockstep ${verb}`);
  if (blocks.length === 0) return null;
  return `${blocks.join("\n").replace(/^ +--url, --json +as above$/gm, serverLines)}\n`;
}
